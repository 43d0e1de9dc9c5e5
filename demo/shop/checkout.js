import { money, products, readCart } from "./shop.js";

const cart = readCart();
const total = (await products()).reduce((sum, tea) => sum + tea.price * (cart[tea.id] ?? 0), 0);
document.getElementById("sum").textContent = `Your order comes to ${money(total)}, with delivery.`;
document.getElementById("pay").textContent = `Pay ${money(total)} now`;

// Card fields are asked for only when a card is the way to pay.
const fields = document.getElementById("card");
document.getElementById("checkout").addEventListener("change", (event) => {
  if (event.target.name !== "payment") return;
  const byCard = event.target.value === "card";
  fields.hidden = !byCard;
  for (const field of fields.querySelectorAll("input")) field.disabled = !byCard;
});
