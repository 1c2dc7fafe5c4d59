import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { aSourceContext } from '../test/helpers/source-context.ts';
import { defineSource } from './define-source.ts';
import { TerminalError } from './errors.ts';

const parameters = z.object({
  url: z.url(),
  version: z
    .string()
    .regex(/^v[0-9]+$/)
    .optional(),
  secret: z.string().optional(),
  depth: z.int().default(1),
});
const definition = {
  parameters,
  pin: 'version',
  host: () => undefined,
  shareable: false,
} as const;
const files = { files: new Map(), directories: new Set<string>() };
const given: z.infer<typeof parameters>[] = [];

const shelf = defineSource({
  type: 'acme-shelf',
  parameters,
  pin: 'version',
  host: ({ url }) => new URL(url),
  secret: ({ secret }) => secret,
  shareable: true,
  fetch: async (wanted) => {
    given.push(wanted);
    return { files, pin: wanted.version ?? 'v2' };
  },
});

function aShelf(fields: Record<string, unknown> = {}) {
  return { type: 'acme-shelf', parameters: { url: 'https://shelf.example/one', ...fields } };
}

function pinOf() {
  if (typeof shelf.pin === 'string') throw new Error('it has no pin');
  return shelf.pin;
}

describe('a source of a definition', () => {
  test('fetches with what the schema returns, and adds the pin to what the user wrote', async () => {
    given.length = 0;
    const result = await shelf.fetch(aShelf(), aSourceContext());
    expect(given).toEqual([{ url: 'https://shelf.example/one', depth: 1 }]);
    expect(result).toEqual({ files, resolvedSource: aShelf({ version: 'v2' }) });
    expect(await shelf.fetch(result.resolvedSource, aSourceContext())).toEqual(result);
  });

  test('is pinned by its parameter', () => {
    expect(pinOf().of(aShelf())).toBeUndefined();
    expect(pinOf().of(aShelf({ version: 'v2' }))).toBe('v2');
    expect(pinOf().at(aShelf(), 'v3')).toEqual(aShelf({ version: 'v3' }));
    expect(pinOf().at(aShelf(), 'latest')).toBeUndefined();
  });

  test('has the same place with any pin', () => {
    expect(pinOf().place(aShelf({ version: 'v2' }))).toBe(pinOf().place(aShelf()));
    expect(pinOf().place(aShelf({ url: 'https://evil.example' }))).not.toBe(
      pinOf().place(aShelf()),
    );
  });

  test('names its server and Secret', () => {
    expect(shelf.host(aShelf())?.hostname).toBe('shelf.example');
    expect(shelf.secret?.(aShelf({ secret: 'login' }))).toBe('login');
  });
});

const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`) as object;

describe('parameters that the schema refuses', () => {
  test.each([
    [
      { type: 'acme-shelf', parameters: { url: 1, version: 'new' } },
      'spec.source.parameters.url: Invalid input: expected string, received number; spec.source.parameters.version: Invalid string: must match pattern /^v[0-9]+$/',
    ],
    [{ type: 'acme-shelf' }, 'spec.source.parameters: is missing'],
    [aShelf({ deep }), 'spec.source.parameters: must have no more than 64 levels'],
  ])('are named by field', async (source, message) => {
    await expect(shelf.fetch(source, aSourceContext())).rejects.toThrow(new TerminalError(message));
    expect(pinOf().of(source)).toBeUndefined();
    expect(pinOf().at(source, 'v1')).toBeUndefined();
    expect(pinOf().place(source)).toBeUndefined();
    expect(shelf.host(source)).toBeUndefined();
    expect(shelf.secret?.(source)).toBeUndefined();
  });
});

/** A server may leave its header out, and no compiler checks sources in JavaScript. */
describe('a fetch that pins nothing', () => {
  test.each<[unknown, string]>([
    [
      '',
      'source type "acme-shelf" returned content without a pin: its parameter "version" must be a non-empty string, but is ""',
    ],
    [
      undefined,
      'source type "acme-shelf" returned content without a pin: its parameter "version" must be a non-empty string, but is a value of type undefined',
    ],
    [
      7,
      'source type "acme-shelf" returned content without a pin: its parameter "version" must be a non-empty string, but is a value of type number',
    ],
    [
      'latest',
      'source type "acme-shelf" returned the pin "latest", which its schema refuses: spec.source.parameters.version: Invalid string: must match pattern /^v[0-9]+$/',
    ],
  ])('fails for the pin %j, and core retries it', async (pin, message) => {
    const careless = defineSource({
      ...definition,
      type: 'acme-shelf',
      fetch: async () => ({ files, pin: pin as string }),
    });
    const fetching = careless.fetch(aShelf(), aSourceContext());
    await expect(fetching).rejects.toThrow(new Error(message));
    await expect(fetching).rejects.not.toBeInstanceOf(TerminalError);
  });
});

test('a fetch that returns nothing fails with the name of its source', async () => {
  const fetch = async () => undefined as unknown as { files: typeof files; pin: string };
  const careless = defineSource({ ...definition, type: 'acme-shelf', fetch });
  await expect(careless.fetch(aShelf(), aSourceContext())).rejects.toThrow(
    'source type "acme-shelf" returned no content: its fetch must return files and pin',
  );
});

test('only a parameter that is a text pins content', () => {
  const fetch = async () => ({ files, pin: '1' });
  // @ts-expect-error a number
  expect(defineSource({ ...definition, type: 'acme', pin: 'depth', fetch }).type).toBe('acme');
});

it.each([
  ['Acme', 'source type "Acme" must match [a-z0-9]([-a-z0-9]*[a-z0-9])?'],
  ['git', 'source type "git" is core\'s own: choose another name'],
])('refuses the type %s', (type, message) => {
  const fetch = async () => ({ files, pin: 'v1' });
  expect(() => defineSource({ ...definition, type, fetch })).toThrow(new Error(message));
});
