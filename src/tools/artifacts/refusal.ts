/** Why a call can't be carried out, in words for whoever made it. Thrown within a unit, it undoes what the call had done. */
export class Refusal extends Error {}
