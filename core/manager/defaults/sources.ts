import { extname } from 'node:path';
import { fetchInWorkers } from '../../classes/index.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { Source } from '../../contracts/source.ts';
import type { AddressPolicy } from '../../platform/net/index.ts';
import { proxyFromEnvironment } from '../../platform/net/index.ts';
import type { ByteBudget } from '../../platform/runtime/index.ts';
import {
  createConfigMapsSource,
  createHttpSource,
  createImageSource,
  gitType,
} from '../../sources/index.ts';
import { imagePullerOptions } from './image-puller-options.ts';
import type { RegistryOptions } from './registry-options.ts';

export interface SourcesOptions {
  /** Besides core's, and in place of those of core that have their types. */
  readonly sources?: readonly Source[] | undefined;
  readonly registries?: RegistryOptions | undefined;
  readonly sourceAddresses?: AddressPolicy | undefined;
  /** Bundles unpacked at once. */
  readonly workers: number;
  /** Where what core's git processes take is counted. */
  readonly memory: ByteBudget;
  readonly logger: Logger;
}

export interface OpenSources {
  readonly sources: readonly Source[];
  /** Ends the processes of core's git source. */
  close(): Promise<void>;
}

/** More than one, so that a git server that stalls its fetches leaves processes to others. */
const gitProcessesPerWorker = 2;

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const gitModule = new URL(`../../sources/git/index${extname(import.meta.url)}`, import.meta.url);

/** Core's sources, and those that are given. */
export async function openSources(options: SourcesOptions): Promise<OpenSources> {
  const { sources = [], registries = {}, workers, memory, logger } = options;
  for (const source of sources) checkSource(source);
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
    sources: [...ours.filter(({ type }) => !replaced.has(type)), ...sources],
    close: () => git.close(),
  };
}

/** JavaScript, and what was written for an earlier contract, is checked by no compiler. */
function checkSource({ type, pin, host, shareable }: Partial<Source>): void {
  if (pin !== undefined && host !== undefined && shareable !== undefined) return;
  throw new Error(
    `source type "${type}" does not define pin, host and shareable: make it with defineSource (docs/howto/write-a-source.md)`,
  );
}
