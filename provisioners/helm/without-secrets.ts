import { isObject } from '../../api/spec-config.ts';
import { errorMessage, type JsonValue, TerminalError } from '../../core/sdk.ts';

/** Minimum length: shorter values occur in every text and are not worth hiding. */
const shortest = 4;
const shown = '<of a Secret>';

/**
 * A text without the values of Secrets: a chart may use them in `fail`, and a schema quotes the
 * value that it refuses.
 */
export function withoutSecrets(text: string, secrets: readonly JsonValue[]): string {
  const found = new Set(secrets.flatMap(leaves).flatMap(forms));
  return [...found]
    .filter((secret) => secret.length >= shortest)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, () => shown), text);
}

/** The same for an error and its cause. */
export function errorWithoutSecrets(error: unknown, secrets: readonly JsonValue[]): unknown {
  if (secrets.length === 0) return error;
  const message = withoutSecrets(errorMessage(error), secrets);
  return error instanceof TerminalError ? new TerminalError(message) : new Error(message);
}

function leaves(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => leaves(item));
  if (isObject(value)) return Object.values(value).flatMap((item) => leaves(item as JsonValue));
  if (typeof value === 'string') return [value];
  return typeof value === 'number' || typeof value === 'bigint' ? [value.toString()] : [];
}

/**
 * The forms of a value in templates and messages: unchanged, quoted, line by line, in base64 and in
 * a URL.
 */
function forms(text: string): readonly string[] {
  const quoted = JSON.stringify(text).slice(1, -1);
  return [
    text,
    quoted,
    quoted.replaceAll(/[<>&]/g, goEscape),
    ...text.split('\n'),
    Buffer.from(text).toString('base64'),
    encodeURIComponent(text.toWellFormed()),
  ];
}

/** Go's JSON escapes of characters that are special in HTML. */
function goEscape(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16)}`;
}
