import { money, products, readCart, writeCart } from "./shop.js";

const teas = new Map((await products()).map((tea) => [tea.id, tea]));
const table = document.getElementById("cart");

function row(id, count) {
  const tea = teas.get(id);
  const tr = document.createElement("tr");
  tr.innerHTML = `<th scope="row">${tea.name}</th><td>${money(tea.price)}</td>
    <td><input type="number" min="1" max="20" value="${count}" aria-label="Quantity of ${tea.name}"></td>
    <td>${money(tea.price * count)}</td>
    <td><button type="button" class="plain">Remove ${tea.name}</button></td>`;
  tr.querySelector("input").addEventListener("change", (event) => set(id, Number(event.target.value)));
  tr.querySelector("button").addEventListener("click", () => set(id, 0));
  return tr;
}

function set(id, count) {
  const cart = readCart();
  if (count > 0) cart[id] = count;
  else delete cart[id];
  writeCart(cart);
  draw();
}

function draw() {
  const entries = Object.entries(readCart()).filter(([id]) => teas.has(id));
  const total = entries.reduce((sum, [id, count]) => sum + teas.get(id).price * count, 0);
  table.tBodies[0].replaceChildren(...entries.map(([id, count]) => row(id, count)));
  document.getElementById("total").textContent = money(total);
  const empty = entries.length === 0;
  document.getElementById("empty").hidden = !empty;
  table.hidden = empty;
  document.getElementById("to-checkout").hidden = empty;
}

draw();
