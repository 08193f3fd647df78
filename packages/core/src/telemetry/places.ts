/** Tasks in which the loop itself writes a span, so that listeners do not write another. */
import { Places } from "../loop/task/places.ts";

export const askedPlaces = new Places();
export const calledPlaces = new Places();
