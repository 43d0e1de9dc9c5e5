// A table of orders: sorting, paging, filtering and editing, as such tables do it.
const SIZE = 10;
let all = [], page = 0, by = "id", down = false, who = "", chosen = new Set();

const cell = (order, name) => {
  const place = make("td", {}, ...(order[name] === "" ? [] : [String(order[name])]));
  if (name === "note")
    place.ondblclick = () => {
      const field = make("input", { "aria-label": "Note of order " + order.id, value: order.note });
      field.onkeydown = (event) => {
        if (event.key === "Enter") told(send("edit", { id: order.id, note: field.value }), "Saved").then(load);
        if (event.key === "Escape") draw();
      };
      place.replaceChildren(field);
      field.focus();
    };
  return place;
};

const menu = (event, order) => {
  event.preventDefault();
  document.querySelector("[role=menu]")?.remove();
  const entry = (name, deed, fields) => make("div", { role: "menuitem", tabindex: 0, onclick: () => {
    document.querySelector("[role=menu]").remove();
    told(send(deed, fields), "Done").then(load);
  } }, name);
  document.body.append(make("div", { role: "menu", style: "position:fixed;background:#eee;left:" + event.clientX + "px;top:" + event.clientY + "px" },
    entry("Put on hold", "edit", { id: order.id, status: "on hold" }), entry("Mark as urgent", "edit", { id: order.id, status: "urgent" })));
};

const draw = () => {
  const list = all.filter((order) => !who || order.customer === who)
    .sort((a, b) => (a[by] > b[by] ? 1 : a[by] < b[by] ? -1 : 0) * (down ? -1 : 1));
  const pages = Math.max(1, Math.ceil(list.length / SIZE));
  page = Math.min(page, pages - 1);
  at("where").textContent = "Page " + (page + 1) + " of " + pages;
  at("rows").replaceChildren(...list.slice(page * SIZE, page * SIZE + SIZE).map((order) => {
    const box = make("input", { type: "checkbox", "aria-label": "Choose order " + order.id });
    box.checked = chosen.has(order.id);
    box.onchange = () => box.checked ? chosen.add(order.id) : chosen.delete(order.id);
    const row = make("tr", {}, make("td", {}, box), ...["id", "customer", "amount", "status", "note"].map((name) => cell(order, name)),
      make("td", {}, make("button", { onclick: () => told(send("edit", { id: order.id, status: "shipped" }), "Shipped").then(load) }, "Ship"),
        make("button", { onclick: () => confirm("Delete order " + order.id + "?") && told(send("delete", { id: order.id }), "Deleted").then(load) }, "Delete")));
    row.oncontextmenu = (event) => menu(event, order);
    return row;
  }));
};

const load = async () => { all = await get("orders"); draw(); };
const turn = (by) => { page = Math.max(0, page + by); draw(); };
const sort = (name) => { down = by === name ? !down : false; by = name; draw(); };

addEventListener("DOMContentLoaded", () => {
  at("all").onchange = () => {
    const shown = all.filter((order) => !who || order.customer === who);
    chosen = new Set(at("all").checked ? shown.map((order) => order.id) : []);
    draw();
  };
  at("who").oninput = () => { who = at("who").value; page = 0; draw(); };
  at("archive").onclick = () => told(send("edit", { ids: [...chosen], status: "archived" }), "Archived").then(load);
  load();
});
