/** What a place accepts, and how far it reaches; as groupcore/shared/places/limits.py. */

export const SIDE = 2 ** 31;
export const START = -Math.floor(SIDE / 3);
export const END = START + SIDE;
export const DEPTH_MAX = 14;
export const SIZE_MAX = 2 ** 20;
export const TURN_MAX = 23_040;
export const ORDER_MAX = 2 ** 40;
export const TEXT_MAX = 10_000;
export const NAME_MAX = 64;
export const VALUE_MAX = 2_000;
export const PROPERTIES_MAX = 32;
export const POINTS_MAX = 4_000;
export const LINKS_MAX = 32;
export const VOTES_MAX = 200;
export const THING_BYTES_MAX = 24_000;
export const PARCEL_BYTES = 32_000;
export const THINGS_MAX = 4_000;
export const EDITS_MAX = 500;
export const SPLITS_MAX = 256;
export const PENDING_MAX = 256;
export const BALLS_MAX = 64;
export const WENT_MAX = 512;
export const COUNT_MAX = 2 ** 48;
export const INT_MAX = 2 ** 53 - 1;
