/** Three users for an empty database. */
import { textValue } from "./values.js";

const samples = [
  ["NIX", "auburn", "41"],
  ["Zoë", "black", "36"],
  ["Tim", "blond", "17"],
];

export async function addSampleUsers({ writes, notices }) {
  try {
    for (const [name, color, age] of samples) {
      await writes.add(new Map([
        ["name", textValue(name)], ["hair_color", textValue(color)], ["age", { kind: "integer", source: age }],
      ]));
    }
    notices.show("Added three users. To edit a value, click it twice, or press Enter.");
  } catch (error) {
    notices.showProblem(error);
  }
}
