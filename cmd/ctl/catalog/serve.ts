import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { CatalogFollower, CatalogPlace, ServedCatalog } from '../../../catalog/serve/index.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import {
  type BindAddress,
  parseBindAddress,
  stopSignal,
} from '../../../core/platform/runtime/index.ts';
import { favourBuilding } from '../../favour-memory.ts';
import { durationOption } from '../../flags/flag-values.ts';
import { addRegistryFlags, type RegistryFlags } from '../../flags/registry-flags.ts';
import { logLine } from '../output/loggers.ts';
import { writeOutput } from '../output/output.ts';
import { withPlace } from './opened-catalog.ts';

interface ServeFlags extends RegistryFlags {
  readonly address: BindAddress;
  readonly grpcAddress?: BindAddress;
  readonly cacheDir?: string;
  readonly pollInterval: number;
}

const loopback = '127.0.0.1:8080';

/** `rukpakctl catalog serve`: catalogs over HTTP and gRPC. */
export function serveCommand(): Command {
  const command = new Command('serve')
    .addArgument(
      new Argument(
        '<place...>',
        'Catalogs as PLACE or NAME=PLACE: directory, image, oci:DIRECTORY or oci-archive:FILE',
      ),
    )
    .addOption(
      new Option(
        '--address <host:port>',
        'Address of HTTP; :PORT is all interfaces, port 0 a free one',
      )
        .argParser(address)
        .default(address(loopback), loopback),
    )
    .option(
      '--grpc-address <host:port>',
      'Address of gRPC as opm serves it, for one catalog (default: no gRPC)',
      address,
    )
    .option(
      '--cache-dir <directory>',
      'Cache directory; reused at the next start if the catalogs are unchanged (default: a temporary one)',
    );
  command.addOption(
    durationOption('--poll-interval', 'Interval at which to check catalogs for changes', '15s'),
  );
  return addRegistryFlags(command).action(withPlace(serve));
}

function address(text: string): BindAddress {
  try {
    const parsed = parseBindAddress(text);
    if (parsed !== undefined) return parsed;
  } catch (error) {
    throw new InvalidArgumentError(errorMessage(error));
  }
  throw new InvalidArgumentError('It must be host:port or :port.');
}

async function serve(texts: readonly string[], flags: ServeFlags): Promise<void> {
  favourBuilding();
  const { parseCatalogPlace } = await import('../../../catalog/serve/index.ts');
  const places = texts.map(parseCatalogPlace);
  checkNames(places);
  if (flags.grpcAddress !== undefined && places.length > 1) {
    throw new TerminalError('--grpc-address serves one catalog: start a server for each');
  }
  const signal = stopSignal();
  const cacheDir = flags.cacheDir ?? (await mkdtemp(join(tmpdir(), 'rukpak-serve-')));
  try {
    await serveUntil(signal, { places, flags, cacheDir });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    if (flags.cacheDir === undefined) await rm(cacheDir, { recursive: true, force: true });
  }
}

function checkNames(places: readonly CatalogPlace[]): void {
  for (const [index, { name }] of places.entries()) {
    if (places.findIndex((other) => other.name === name) === index) continue;
    throw new TerminalError(`two catalogs have the name ${name}: name them with NAME=PLACE`);
  }
}

interface Serving {
  readonly places: readonly CatalogPlace[];
  readonly flags: ServeFlags;
  readonly cacheDir: string;
}

async function serveUntil(
  signal: AbortSignal,
  { places, flags, cacheDir }: Serving,
): Promise<void> {
  const serving = await import('../../../catalog/serve/index.ts');
  const registry = async () =>
    await (await import('../../registry-access.ts')).registryAccess(flags);
  const followers: CatalogFollower[] = [];
  for (const place of places) {
    const cache = new serving.ContentCache(join(cacheDir, place.name));
    const told = { onReplaced: sayReplaced, onFailure: sayFailure };
    followers.push(await serving.CatalogFollower.open(place, { cache, registry, signal, ...told }));
  }
  const catalogs = followers.map(({ catalog }) => catalog);
  const http = new serving.CatalogHttpServer({ catalogs, address: flags.address, onError: say });
  const [only] = catalogs;
  const grpc =
    flags.grpcAddress === undefined || only === undefined
      ? undefined
      : new serving.RegistryServer({ catalog: only, address: flags.grpcAddress, onError: say });
  try {
    const listening = await http.listen();
    const lines = catalogs.map(({ name }) => `serving ${urlOf(listening)}/catalogs/${name}/\n`);
    const port = await grpc?.listen();
    if (port !== undefined) lines.push(`serving gRPC on port ${port}\n`);
    await writeOutput(lines, process.stdout);
    await Promise.all(followers.map((each) => each.follow(flags.pollInterval, systemClock)));
  } finally {
    // A server that listens would keep the process alive after an error.
    await Promise.all([http.close(), grpc?.close()]);
    for (const catalog of catalogs) await catalog.close();
  }
}

function urlOf({ address: host, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`;
}

function sayReplaced({ name }: ServedCatalog): void {
  process.stderr.write(logLine(`catalog ${name} has changed: serving the new content`));
}

function sayFailure({ name }: ServedCatalog, error: unknown): void {
  const problem = errorMessage(error);
  process.stderr.write(
    logLine(
      `error: catalog ${name} has changed and cannot be served, the former content stays: ${problem}`,
    ),
  );
}

function say(error: unknown): void {
  process.stderr.write(logLine(`error: ${errorMessage(error)}`));
}
