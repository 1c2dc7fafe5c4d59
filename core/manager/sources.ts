import { extname } from 'node:path';
import { fetchInWorkers } from '../classes/index.ts';
import { checkFiles, faultOfFiles } from '../content/index.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Source, SourceResult } from '../contracts/source.ts';
import { type AddressPolicy, proxyFromEnvironment } from '../platform/net/index.ts';
import type { ByteBudget } from '../platform/runtime/index.ts';
import {
  createConfigMapsSource,
  createHttpSource,
  createImageSource,
  gitType,
  type ImagePullerOptions,
} from '../sources/index.ts';
import type { RegistryOptions } from './options.ts';

interface SourcesOptions {
  /** In addition to core's; one with the type of a core source replaces that. */
  readonly sources?: readonly Source[] | undefined;
  readonly registries?: RegistryOptions | undefined;
  readonly sourceAddresses?: AddressPolicy | undefined;
  /** Maximum number of Bundles unpacked at once. */
  readonly workers: number;
  /** Counts the memory of core's git processes. */
  readonly memory: ByteBudget;
  readonly logger: Logger;
}

export interface OpenSources {
  readonly sources: readonly Source[];
  /** Ends the processes of core's git source. */
  close(): Promise<void>;
}

/** More than one, so that a git server with stalling fetches leaves processes to others. */
const gitProcessesPerWorker = 2;

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const gitModule = new URL(`../sources/git/git-source${extname(import.meta.url)}`, import.meta.url);

/**
 * Core's sources, and the given ones.
 * @throws Error that names a given one which is no source, or two of one type.
 */
export async function openSources(options: SourcesOptions): Promise<OpenSources> {
  const { sources = [], registries = {}, workers, memory, logger } = options;
  checkSources(sources);
  const addresses = options.sourceAddresses ?? {};
  const settings = { proxy: proxyFromEnvironment(), addresses };
  const image = await imagePullerOptions(registries, (text) => logger.info({}, text));
  const size = workers * gitProcessesPerWorker;
  const workersOptions = { settings, size, sandboxed: true, memory, logger };
  const git = fetchInWorkers({ module: gitModule, source: gitType, ...workersOptions });
  const ours = [
    createImageSource({ ...image, addresses }),
    git,
    createHttpSource(settings),
    createConfigMapsSource(),
  ];
  const replaced = new Set(sources.map(({ type }) => type));
  return {
    sources: [
      ...ours.filter(({ type }) => !replaced.has(type)),
      ...sources.map(withCheckedContent),
    ],
    close: () => git.close(),
  };
}

function checkSources(sources: readonly Source[]): void {
  const types = new Set<string>();
  for (const source of sources) {
    checkSource(source);
    if (types.has(source.type)) {
      throw new Error(`two sources have the type "${source.type}": rename one`);
    }
    types.add(source.type);
  }
}

/** No compiler checks sources in JavaScript, or those for an earlier contract. */
function checkSource({ type, pin, host, shareable }: Partial<Source>): void {
  if (pin !== undefined && host !== undefined && shareable !== undefined) return;
  throw new Error(
    `source type "${type}" does not define pin, host and shareable: make it with defineSource (docs/howto/write-a-source.md)`,
  );
}

/**
 * The source with a `fetch` that rejects for content that core could not store: text instead of bytes
 * has no size, and would leave the memory budget of all Bundles without a number.
 */
function withCheckedContent(given: Source): Source {
  const { type, pin, shareable, secretsListHosts } = given;
  return {
    type,
    pin,
    shareable,
    ...(secretsListHosts !== undefined && { secretsListHosts }),
    host: (source) => given.host(source),
    ...(given.secret && { secret: (source) => given.secret?.(source) }),
    fetch: async (source, context) => {
      const result = await given.fetch(source, context);
      const fault = faultOfFiles((result as SourceResult | undefined)?.files);
      // Not terminal: its process may start again with a corrected source.
      if (fault !== undefined) throw new Error(`source type "${type}" returned no files: ${fault}`);
      checkFiles(result.files, context.limits);
      return result;
    },
  };
}

/**
 * Reads the files that the options name, and the proxies of the environment.
 * @param note receives each setting that has no effect
 * @throws Error that names the unusable flag, file or variable
 */
export async function imagePullerOptions(
  options: RegistryOptions,
  note?: (text: string) => void,
): Promise<ImagePullerOptions> {
  // Most commands of rukpakctl do not need it, and it is slow to load.
  const { readRegistrySettings } = await import('../registry/index.ts');
  return { ...readRegistrySettings(options, note), verifier: await imageVerifier(options) };
}

async function imageVerifier({
  imagePolicy,
  sigstoreTrustedRoot,
}: RegistryOptions): Promise<ImagePullerOptions['verifier']> {
  if (imagePolicy === undefined) {
    if (sigstoreTrustedRoot === undefined) return undefined;
    throw new Error('--sigstore-trusted-root has no effect without --image-policy');
  }
  const { readImageVerifier } = await import('../sources/image/signatures/index.ts');
  return readImageVerifier(imagePolicy, sigstoreTrustedRoot);
}
