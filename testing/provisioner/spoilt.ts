import { fail } from 'node:assert';
import {
  type BundleFiles,
  BundleFilesBuilder,
  defaultLimits,
  errorMessage,
} from '../../core/sdk.ts';
import { thrownBy } from '../calls.ts';
import { assertRefusal, prefixed } from '../suite.ts';
import type { Given } from './given.ts';
import { assertWellShaped } from './result.ts';
import type { Trial } from './trial.ts';

/**
 * Any user input must end in a result or in a TerminalError that names the problem: never in a
 * TypeError, in a value that is not an Error, or in an unusable result.
 */
export async function checkSpoiltArguments(trial: Trial, options: HandlingOptions): Promise<void> {
  const sound = await trial.given();
  if (trial.takesAnyContent) {
    for (const { how, files } of spoiltContents(sound.files)) {
      await assertHandled({ trial, how, ...options }, async () => ({ ...sound, files }));
    }
  }
  if (trial.handler === 'bundle') return;
  for (const { how, config } of spoiltConfigs(trial.config)) {
    await assertHandled({ trial, how, ...options }, () => trial.given({ config }));
  }
  if ('polluted' in {}) fail('with __proto__ in its config, it changed all objects of the process');
}

interface HandlingOptions {
  /** Whether the fixtures contain no refused content. */
  readonly refusesNothing: boolean;
}

interface Handling extends HandlingOptions {
  readonly trial: Trial;
  readonly how: string;
}

async function assertHandled(
  { trial, how, refusesNothing }: Handling,
  given: () => Promise<Given>,
): Promise<void> {
  try {
    let result: unknown;
    const thrown = await thrownBy(async () => {
      result = await trial.run(await given());
    });
    if (thrown === undefined) return assertWellShaped(trial.handler, result);
    assertRefusal(thrown.error, 'TerminalError');
    if (refusesNothing) {
      fail(
        `it was refused ("${errorMessage(thrown.error)}"), but the fixtures have no refused content: add a case to refused`,
      );
    }
  } catch (error) {
    throw prefixed(`${how}, `, error);
  }
}

interface SpoiltContent {
  /** Such as `with "a.yaml" empty`. */
  readonly how: string;
  readonly files: BundleFiles;
}

/** Maximum number of files to spoil in turn: further ones would show nothing new. */
const maxFiles = 5;

const texts: Readonly<Record<string, string>> = {
  empty: '',
  'of null': 'null\n',
  'of a list': '- 1\n- [a]\n',
  'of a text': '"text"\n',
  'of a number': '1e999\n',
  'of an object': '{"kind": 1, "metadata": [], "spec": "x"}\n',
  'cut off': '{"a": [',
  'that refers to itself': 'a: &a [*a]\n',
};

/** Spoilt variants of content that some user will write. */
function spoiltContents(content: BundleFiles): readonly SpoiltContent[] {
  const paths = [...content.files.keys()].slice(0, maxFiles);
  return [
    { how: 'without any file', files: new BundleFilesBuilder(defaultLimits).build() },
    ...paths.flatMap((path) => spoiltAt(content, path)),
  ];
}

function spoiltAt(content: BundleFiles, path: string): readonly SpoiltContent[] {
  const name = JSON.stringify(path);
  const bytes = [0x00, 0xff, 0xfe, 0x1f, 0x8b, 0x80];
  const replaced = (replacement: Uint8Array): BundleFiles => withFile(content, path, replacement);
  return [
    { how: `without ${name}`, files: withFile(content, path, undefined) },
    { how: `with a directory ${name}`, files: withDirectory(content, path) },
    { how: `with ${name} of bytes that are not text`, files: replaced(Uint8Array.from(bytes)) },
    ...Object.entries(texts).map(([what, text]) => ({
      how: `with ${name} ${what}`,
      files: replaced(new TextEncoder().encode(text)),
    })),
  ];
}

function withFile(
  { files, directories }: BundleFiles,
  path: string,
  replacement: Uint8Array | undefined,
): BundleFiles {
  const changed = new Map(files);
  if (replacement === undefined) changed.delete(path);
  else changed.set(path, replacement);
  return { files: changed, directories };
}

function withDirectory(content: BundleFiles, path: string): BundleFiles {
  const { files, directories } = withFile(content, path, undefined);
  return { files, directories: new Set([...directories, path]) };
}

interface SpoiltConfig {
  /** Such as `with null as config.name`. */
  readonly how: string;
  readonly config: Readonly<Record<string, unknown>> | undefined;
}

const values: readonly unknown[] = [null, 0, '', 'a\nb', [], [null], {}, { a: { b: null } }];

/** spec.config is free-form: the API server accepts all of these. */
function spoiltConfigs(
  config: Readonly<Record<string, unknown>> | undefined,
): readonly SpoiltConfig[] {
  return [
    { how: 'without a config', config: undefined },
    { how: 'with an empty config', config: {} },
    { how: 'with a config that it does not know', config: { 'no-such-field': [{}] } },
    { how: 'with __proto__ in its config', config: prototypeConfig() },
    ...Object.keys(config ?? {}).flatMap((key) =>
      values.map((value) => ({
        how: `with ${JSON.stringify(value)} as config.${key}`,
        config: { ...config, [key]: value },
      })),
    ),
  ];
}

/** As in parsed JSON: an ordinary member. */
function prototypeConfig(): Readonly<Record<string, unknown>> {
  return JSON.parse('{"__proto__": {"polluted": true}}') as Readonly<Record<string, unknown>>;
}
