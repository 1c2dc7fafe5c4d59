import { isObject, typeOf } from '../../../api/spec-config.ts';
import { errorMessage, type JsonValue, parseYaml, TerminalError } from '../../../core/sdk.ts';

/** A text of YAML, which Helm's engine reads once more, and what is in it. */
export interface ReadValues {
  readonly text: string;
  readonly value: JsonValue;
}

/** The text of spec.config.values, with the error that v0.16 had for it. */
export function readValues(text: string): ReadValues {
  try {
    return { text, value: checkedMap(parseYaml(text)) };
  } catch (error) {
    throw valuesError(errorMessage(error), { cause: error });
  }
}

export function readConfigMapValues(content: Uint8Array, place: string): ReadValues {
  try {
    return { text: decode(content), value: checkedMap(parseYaml(content)) };
  } catch (error) {
    throw valuesError(`${place}: ${errorMessage(error)}`, { cause: error });
  }
}

/** Of a Secret no message tells more than the line. */
export function readSecretValues(content: Uint8Array, place: string): ReadValues {
  try {
    return { text: decode(content), value: checkedMap(parseYaml(content)) };
  } catch (error) {
    const line = /\bline \d+/.exec(errorMessage(error))?.[0];
    const where = line === undefined ? '' : `, ${line}`;
    // Without its cause, which quotes the text.
    throw valuesError(`${place}${where}: it is no map in YAML; what it holds is not shown`, {});
  }
}

function checkedMap(value: JsonValue): JsonValue {
  if (value === null || isObject(value)) return value;
  throw new TerminalError(
    `the values are ${typeOf(value)}: they must be a map, such as "key: value"`,
  );
}

function valuesError(problem: string, options: ErrorOptions): TerminalError {
  return new TerminalError(`read chart values: ${problem}`, options);
}

function decode(content: Uint8Array): string {
  return new TextDecoder().decode(content);
}
