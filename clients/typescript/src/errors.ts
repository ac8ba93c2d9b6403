// Written by tools/make_typescript.py from the table of operations and the OpenAPI document. Do not edit.

import type { Problem } from "./types.js";

/** Additional data of an error. */
export interface ErrorDetails {
    hint?: string | undefined;
    problem?: Partial<Problem> | undefined;
    cause?: unknown;
}

/** The base class of all errors. `hint` is the next step, in one sentence. */
export class BethinkError extends Error {
    readonly hint: string;
    /** The problem details of the server (RFC 9457), if the error comes from it. */
    readonly problem: Partial<Problem> | undefined;
    constructor(message: string, { hint = "", problem, cause }: ErrorDetails = {}) {
        super(hint ? `${message} ${hint}` : message, { cause });
        this.hint = hint;
        this.problem = problem;
    }
}

/** A setting, an installed package or the database role is wrong or missing. */
export class ConfigurationError extends BethinkError {}
/** The request contradicts the stored data. */
export class ConflictError extends BethinkError {}
/** The database reported an error. */
export class DatabaseError extends BethinkError {}
/** A call to a model failed. */
export class ModelError extends BethinkError {}
/** The API key is unknown, expired or revoked, or lacks the scope. */
export class PermissionDeniedError extends BethinkError {}
/** The stored data cannot be read. */
export class CorruptDatabaseError extends DatabaseError {}
/** The database cannot be used right now. Nothing was written; if that is uncertain, see `OutcomeUnknownError`. */
export class DatabaseUnavailableError extends DatabaseError {}
/** The id, path or name is already in use. */
export class DuplicateError extends ConflictError {}
/** The item with this key or id was deleted recently, so a late retry is rejected. Nothing was stored. */
export class ErasedKeyError extends ConflictError {}
/** A value in the request is not allowed. */
export class InvalidRequestError extends BethinkError {}
/** Another worker has the job now, or has finished it. Nothing was written. */
export class LeaseLostError extends ConflictError {}
/** A legal hold protects the space from deletion. Nothing was deleted. */
export class LegalHoldError extends ConflictError {}
/** The answer of the model cannot be used. */
export class ModelResponseError extends ModelError {}
/** The model did not answer in time. */
export class ModelTimeoutError extends ModelError {}
/** The model cannot be reached, or rejects calls for now */
export class ModelUnavailableError extends ModelError {}
/** The item does not exist in this space. */
export class NotFoundError extends BethinkError {}
/** The connection was lost during the commit: the change may or may not be stored. */
export class OutcomeUnknownError extends DatabaseError {}
/** The session has ended and accepts no more messages. */
export class SessionEndedError extends ConflictError {}
/** The item has changed since it was read */
export class VersionConflictError extends ConflictError {
    get current(): number | null {
        return this.problem?.current ?? null;
    }
}
/** Another process locked the database for too long. Nothing was written. */
export class DatabaseBusyError extends DatabaseUnavailableError {}
/** A field of the request is not allowed */
export class InvalidFieldError extends InvalidRequestError {}
/** The space is in another shard, or is being moved to one. Nothing was written. */
export class SpaceMovedError extends DatabaseUnavailableError {}

/** Every error by its code. */
export const ERRORS = {
    BethinkError, ConfigurationError, ConflictError, DatabaseError, ModelError, PermissionDeniedError,
    CorruptDatabaseError, DatabaseUnavailableError, DuplicateError, ErasedKeyError, InvalidRequestError,
    LeaseLostError, LegalHoldError, ModelResponseError, ModelTimeoutError, ModelUnavailableError, NotFoundError,
    OutcomeUnknownError, SessionEndedError, VersionConflictError, DatabaseBusyError, InvalidFieldError,
    SpaceMovedError,
};
for (const [name, kind] of Object.entries(ERRORS)) kind.prototype.name = name;
