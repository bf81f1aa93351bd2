/** Texts of drawn cards, so that the cards of an erased person are found. */
export const cards = `
  ALTER TABLE media_files ADD COLUMN text text; -- shown in a drawn card; null: other rows have the texts of the file
`;
