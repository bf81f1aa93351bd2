export { CATEGORIES, type Category } from "../../../contract/domain/mod.ts";
