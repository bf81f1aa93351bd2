export { CATEGORIES, type Category } from "../../domain/mod.ts";
