import { z } from 'zod';

/**
 * A map of strings to values, with all its keys. `z.record` silently drops the key `__proto__`,
 * which ConfigMaps, Secrets and custom resources may have.
 */
export function record<V extends z.ZodType>(value: V): z.ZodRecord<z.ZodString, V> {
  return new WholeRecord({ type: 'record', keyType: z.string(), valueType: value }) as z.ZodRecord<
    z.ZodString,
    V
  >;
}

const protoKey = '__proto__';

const WholeRecord = z.core.$constructor<z.ZodRecord>('WholeRecord', (inst, def) => {
  z.ZodRecord.init(inst, def);
  const parse = inst._zod.parse.bind(inst._zod);
  inst._zod.parse = (payload, context) => {
    const input = payload.value;
    const parsed = parse(payload, context);
    if (!isObject(input) || !Object.hasOwn(input, protoKey)) return parsed;
    if (parsed instanceof Promise) throw new Error('a record has no asynchronous values');
    const member = def.valueType._zod.run({ value: input[protoKey], issues: [] }, context);
    if (member instanceof Promise) throw new Error('a record has no asynchronous values');
    parsed.issues.push(...z.core.util.prefixIssues(protoKey, member.issues));
    define(parsed.value as object, member.value);
    return parsed;
  };
});

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An assignment would set the prototype. */
function define(object: object, value: unknown): void {
  Object.defineProperty(object, protoKey, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}
