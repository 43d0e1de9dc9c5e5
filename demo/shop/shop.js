// The cart lives in this browser only; every page shows how much is in it.
const KEY = "cart";

export function readCart() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

export function writeCart(cart) {
  localStorage.setItem(KEY, JSON.stringify(cart));
  showCount();
}

export function money(cents) {
  return `€${(cents / 100).toFixed(2)}`;
}

export async function products() {
  return (await fetch("products.json")).json();
}

function showCount() {
  const count = Object.values(readCart()).reduce((sum, n) => sum + n, 0);
  document.getElementById("cart-link").textContent = `Cart (${count})`;
}

showCount();
