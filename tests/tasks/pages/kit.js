// What every page of the suite may use: reading and changing what the server stores, and making elements.
const get = (key, query) =>
  fetch("/data/" + key + (query ? "?" + new URLSearchParams(query) : "")).then((answer) => answer.json());

const send = async (deed, fields) => {
  const answer = await fetch("/do/" + deed, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(fields ?? {}),
  });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
};

const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};

const at = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const note = (text) => {
  let place = document.querySelector("[role=status]");
  if (!place) document.body.append((place = make("p", { role: "status" })));
  place.textContent = text;
};
const told = (promise, text) => promise.then(() => note(text), (error) => note(error.message));

addEventListener("DOMContentLoaded", () => {
  if (query.get("error")) document.body.prepend(make("p", { role: "alert" }, query.get("error")));
});
