import { writeCart } from "./shop.js";

writeCart({});
