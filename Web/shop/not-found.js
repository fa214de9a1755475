// The page for addresses that the shop does not have.

import { find, menu } from "./shop.js";

find("back").textContent = `See the menu of ${menu.title}`;
