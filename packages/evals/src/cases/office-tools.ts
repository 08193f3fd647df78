/** Tools of the cases: mail, orders, weather, search. They keep what they did in the world. */
import { doneBy, filler, recordedTool } from "./building.ts";

export const sendMail = recordedTool({
  name: "send_mail",
  description: "Sends a mail.",
  takes: { mail_to: "string", mail_subject: "string", mail_body: "string" },
  run: ({ mail_to }) => `Sent to ${mail_to}.`,
});

export const createOrder = recordedTool({
  name: "create_order",
  description: "Orders an item from the store.",
  takes: { item_name: "string", quantity: "integer" },
  run: ({ item_name, quantity }, world) =>
    `Order ${100 + doneBy(world, "create_order").length}: ${quantity} of ${item_name}.`,
});

export const getWeather = recordedTool({
  name: "get_weather",
  description: "Returns the weather of a city.",
  takes: { city_name: "string" },
  run: ({ city_name }) => `${city_name}: 17 degrees, light rain.`,
});

export const addNumbers = recordedTool({
  name: "add_numbers",
  description: "Adds two numbers.",
  takes: { first_number: "number", second_number: "number" },
  run: ({ first_number, second_number }) => `The sum is ${Number(first_number) + Number(second_number)}.`,
});

/** Fails the first two times. */
export const bookRoom = recordedTool({
  name: "book_room",
  description: "Books a meeting room.",
  takes: { room_name: "string" },
  run: ({ room_name }, world) => {
    if (doneBy(world, "book_room").length <= 2) throw new Error("The booking service is busy, try again.");
    world.booked = room_name;
    return `Booked ${room_name}.`;
  },
});

/** Fails always. */
export const faxDocument = recordedTool({
  name: "fax_document",
  description: "Faxes a document.",
  takes: { fax_number: "string" },
  run: () => {
    throw new Error("No fax machine is connected.");
  },
});

export const deleteAccount = recordedTool({
  name: "delete_account",
  description: "Deletes the account of a customer for ever.",
  takes: { account_id: "string" },
  run: ({ account_id }) => `Deleted ${account_id}.`,
});

export const transferMoney = recordedTool({
  name: "transfer_money",
  description: "Transfers money to an account.",
  takes: { account_id: "string", amount: "integer" },
  run: ({ account_id, amount }) => `Transferred ${amount} to ${account_id}.`,
});

/** About 400 kB with one line that matters, far from the beginning. */
export const searchArchive = recordedTool({
  name: "search_archive",
  description: "Searches the archive and returns all that it finds.",
  takes: { search_text: "string" },
  run: ({ search_text }) =>
    `${filler(40_000, 3)}\nRecord of ${search_text}: the shelf is B-17.\n${filler(20_000, 5)}`,
});
