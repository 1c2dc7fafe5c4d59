import type { JsonValue } from '../../../api/json.ts';
import { checkCombinators } from './check-combinators.ts';
import { checkEnum } from './check-enum.ts';
import { checkList } from './check-list.ts';
import { checkNumber } from './check-number.ts';
import { checkObject } from './check-object.ts';
import { checkFormat, checkString } from './check-string.ts';
import { checkType } from './check-type.ts';
import { withDefaults } from './defaults.ts';
import { checkEmbeddedResources } from './embedded-resource.ts';
import type { JsonSchema } from './json-schema.ts';
import { Outcome } from './outcome.ts';
import { type Kind, kindOf, type Subject, type SubjectPart, typesOf } from './subject.ts';
import { supportedFormat } from './supported-format.ts';

/**
 * What is wrong with an object under a structural schema, in the API server's own words: each text
 * begins with `[]`, the root. Defaults are filled in before, and fields that the schema does not
 * know are no fault, as they would be pruned. CEL rules and list types are not checked.
 */
export function validateObject(object: JsonValue, schema: JsonSchema): Outcome {
  const value = withDefaults(object, schema);
  const outcome = validate({ value, schema, path: '' });
  for (const text of checkEmbeddedResources({ value, schema, path: '' })) outcome.add(text);
  return outcome;
}

interface Rule {
  readonly applies: (subject: Subject, kind: Kind) => boolean;
  // Each is called with the kinds of values that it applies to.
  readonly check: (subject: Subject<never>) => Outcome | undefined;
}

const always = () => true;

/** In the order in which the API server's validator goes through them: it decides what is told. */
const rules: readonly Rule[] = [
  { applies: ({ schema }) => isTyped(schema), check: checkType },
  { applies: always, check: checkCombinators },
  { applies: (_subject, kind) => kind === 'string', check: checkString },
  {
    applies: ({ schema }, kind) => kind === 'string' && supportedFormat(schema) !== '',
    check: checkFormat,
  },
  { applies: (_subject, kind) => kind === 'integer' || kind === 'number', check: checkNumber },
  { applies: (_subject, kind) => kind === 'array', check: checkList },
  { applies: always, check: checkEnum },
  { applies: (_subject, kind) => kind === 'object', check: checkObject },
];

function validate(part: SubjectPart): Outcome {
  const subject: Subject = { ...part, validate };
  const outcome = new Outcome();
  if (part.value === null) {
    outcome.merge(checkType(subject));
    outcome.merge(checkEnum(subject));
    return outcome;
  }
  const kind = kindOf(part.value);
  for (const { applies, check } of rules) {
    if (!applies(subject, kind)) continue;
    outcome.merge(check(subject as Subject<never>));
    outcome.matches += 1;
  }
  outcome.matches += 1;
  return outcome;
}

function isTyped(schema: JsonSchema): boolean {
  return typesOf(schema).length > 0 || supportedFormat(schema) !== '';
}
