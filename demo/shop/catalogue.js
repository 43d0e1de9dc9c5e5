// Renders the list a few teas at a time, as applications do that fetch first and draw later.
import { money, products, readCart, writeCart } from "./shop.js";

const BATCH = 3;
const PAUSE_MS = 90;

const form = document.getElementById("filters");
const list = document.getElementById("teas");
const status = document.getElementById("status");
let all = [];
let round = 0;

function wanted() {
  const { q, sort, kind } = Object.fromEntries(new FormData(form));
  const words = q.trim().toLowerCase();
  const order = {
    name: (a, b) => a.name.localeCompare(b.name),
    cheap: (a, b) => a.price - b.price,
    dear: (a, b) => b.price - a.price,
  };
  return all
    .filter((tea) => !kind || tea.kind === kind)
    .filter((tea) => `${tea.name} ${tea.kind} ${tea.origin}`.toLowerCase().includes(words))
    .sort(order[sort]);
}

function card(tea) {
  const item = document.createElement("li");
  item.innerHTML = `<article>
    <span class="tin" aria-hidden="true" style="background:${tea.colour}">${tea.name[0]}</span>
    <h2>${tea.name}</h2>
    <p class="kind">${tea.kind} · ${tea.origin}</p>
    <p>${tea.text}</p>
    <p class="price"><strong>${money(tea.price)}</strong> for 100 g</p>
    <button type="button">Add ${tea.name} to cart</button>
  </article>`;
  item.querySelector("button").addEventListener("click", () => {
    const cart = readCart();
    cart[tea.id] = (cart[tea.id] ?? 0) + 1;
    writeCart(cart);
    status.textContent = `${tea.name}: ${cart[tea.id]} in your cart`;
  });
  return item;
}

async function draw() {
  const mine = ++round;
  const teas = wanted();
  list.replaceChildren();
  list.setAttribute("aria-busy", "true");
  for (let at = 0; at < teas.length; at += BATCH) {
    await new Promise((done) => setTimeout(done, PAUSE_MS));
    if (mine !== round) return;
    list.append(...teas.slice(at, at + BATCH).map(card));
  }
  list.setAttribute("aria-busy", "false");
  status.textContent = teas.length === 1 ? "1 tea" : `${teas.length} teas`;
}

form.addEventListener("input", draw);
form.addEventListener("submit", (event) => event.preventDefault());

all = await products();
for (const kind of new Set(all.map((tea) => tea.kind))) {
  form.elements.kind.append(new Option(kind, kind));
}
draw();
