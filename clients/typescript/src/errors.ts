// Written by tools/make_typescript.py from the table of verbs and the OpenAPI document; run it again instead.

import type { Problem } from "./types.js";

/** What an error may be told beside its message. */
export interface Told {
    hint?: string | undefined;
    problem?: Partial<Problem> | undefined;
    cause?: unknown;
}

/** The base class of all errors. `hint` is the next step, in one sentence. */
export class BethinkError extends Error {
    readonly hint: string;
    /** What the server answered (RFC 9457), if the error comes from it. */
    readonly problem: Partial<Problem> | undefined;
    constructor(message: string, { hint = "", problem, cause }: Told = {}) {
        super(hint ? `${message} ${hint}` : message, { cause });
        this.hint = hint;
        this.problem = problem;
    }
}

/** The request contradicts what is stored. */
export class Conflict extends BethinkError {}
/** The key does not allow this: it is unknown, expired or revoked, or lacks the scope. */
export class Denied extends BethinkError {}
/** The settings or the database role cannot work. */
export class Misconfigured extends BethinkError {}
/** A model call failed. */
export class ModelError extends BethinkError {}
/** The database reported an error. */
export class StoreError extends BethinkError {}
/** The answer of the model cannot be used. */
export class BadAnswer extends ModelError {}
/** What is stored cannot be read. */
export class Corrupt extends StoreError {}
/** A key that must be unique is taken. */
export class Duplicate extends Conflict {}
/** What this key or id was used for was erased: a late retry must not bring it back. Nothing was stored. */
export class ErasedKey extends Conflict {}
/** The value cannot be stored as it is. */
export class Invalid extends BethinkError {}
/** Another worker has claimed the job, or its work was already done. Nothing was written. */
export class LostClaim extends Conflict {}
/** The model did not answer in time. */
export class ModelTimeout extends ModelError {}
/** The model cannot be reached, or rejects calls for now */
export class ModelUnavailable extends ModelError {}
/** Nothing with that name exists. */
export class NotFound extends BethinkError {}
/** The connection was lost while committing: the change may or may not be stored. Not an `Unavailable`. */
export class OutcomeUnknown extends StoreError {}
/** The session no longer takes messages. */
export class SessionEnded extends Conflict {}
/** A newer version than the one that was read exists; `current` is its number, or null if it is gone. */
export class Stale extends Conflict {
    get current(): number | null {
        return this.problem?.current ?? null;
    }
}
/** The database cannot be used right now, and nothing was written. If that is uncertain: `OutcomeUnknown`. */
export class Unavailable extends StoreError {}
/** A legal hold stands on the space: nothing of it may be erased. Nothing was. */
export class UnderLegalHold extends Conflict {}
/** Another writer locked the database for too long. */
export class Busy extends Unavailable {}
/** The space is in another shard, or on its way there. Nothing was written. */
export class Moved extends Unavailable {}

/** Every error by its code. */
export const ERRORS = {
    BethinkError, Conflict, Denied, Misconfigured, ModelError, StoreError, BadAnswer, Corrupt, Duplicate, ErasedKey,
    Invalid, LostClaim, ModelTimeout, ModelUnavailable, NotFound, OutcomeUnknown, SessionEnded, Stale, Unavailable,
    UnderLegalHold, Busy, Moved,
};
for (const [name, kind] of Object.entries(ERRORS)) kind.prototype.name = name;
