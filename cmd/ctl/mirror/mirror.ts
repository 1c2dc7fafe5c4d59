// First imports, so that V8 frees chunks of blobs early: other modules produce garbage too.
import '../../favour-memory.ts';
import '../../free-buffers-at-once.ts';
import { join } from 'node:path';
import { Command } from 'commander';
import type {
  MirrorOptions,
  MirrorRegistry,
  MirrorResult,
  WrittenFiles,
} from '../../../catalog/mirror/index.ts';
import { TerminalError } from '../../../core/errors.ts';
import { hideRefusedFlags, positiveInteger } from '../../flags/flag-values.ts';
import { addRegistryFlags, type RegistryFlags } from '../../flags/registry-flags.ts';
import { type OutputFlags, outputOption, Report } from '../output/output.ts';
import { EventReport } from './event-report.ts';
import { ProgressLine } from './progress-line.ts';

interface MirrorFlags extends RegistryFlags, OutputFlags {
  readonly config?: string;
  readonly from?: string;
  readonly to: string;
  readonly since?: string;
  readonly platform?: string;
  readonly results: string;
  readonly maxPerRegistry: number;
}

/** `rukpakctl mirror`: images for a disconnected cluster. */
export function mirrorCommand(): Command {
  const command = new Command('mirror')
    .option(
      '--config <file>',
      'Catalogs and images to copy (ImageSetConfiguration file of oc-mirror); required without --from',
    )
    .option(
      '--from <place>',
      'Directory or tar written by an earlier run, to push; required without --config',
    )
    .requiredOption(
      '--to <place>',
      'Target: registry with an optional path (mirror.example:5000/ocp), directory (./path) or tar (./path.tar)',
    )
    .option(
      '--since <place>',
      'Directory, tar or mirror-record.json of an earlier run; its content is skipped',
    )
    .option('--platform <os/arch>', 'Platform to copy of each image (default: all)')
    .option('--results <directory>', 'Directory for files that clusters need', 'mirror-results')
    .option(
      '--max-per-registry <count>',
      'Maximum number of requests to one registry at the same time',
      positiveInteger,
      4,
    );
  return hideRefusedFlags(addRegistryFlags(command), '--image-policy', '--sigstore-trusted-root')
    .addOption(outputOption())
    .action(run);
}

async function run(flags: MirrorFlags): Promise<void> {
  const { config, from } = flags;
  refusePolicy(flags);
  if (config !== undefined && from === undefined) return await mirrorImageSet(config, flags);
  if (config === undefined && from !== undefined) return await pushCarried(from, flags);
  throw new TerminalError('give either --config FILE or --from PLACE');
}

function refusePolicy({ imagePolicy, sigstoreTrustedRoot }: MirrorFlags): void {
  if (imagePolicy === undefined && sigstoreTrustedRoot === undefined) return;
  const flag = imagePolicy === undefined ? '--sigstore-trusted-root' : '--image-policy';
  throw new TerminalError(`${flag}: mirror copies signatures, and does not verify them`);
}

async function mirrorImageSet(config: string, flags: MirrorFlags): Promise<void> {
  const mirror = await import('../../../catalog/mirror/index.ts');
  const report = new Report(flags);
  const set = await mirror.readImageSet(config);
  for (const text of set.leftOut) await report.line(`warning: ${text}`);
  const events = new EventReport(report, new ProgressLine(process.stderr));
  const options = await mirrorOptions(flags, events);
  if (!mirror.isCarriedPlace(flags.to)) {
    if (flags.since !== undefined)
      throw new TerminalError('--since needs a directory or tar in --to');
    const registry = mirror.parseMirrorRegistry(flags.to, flags.insecureRegistry);
    const result = await mirror.mirrorToRegistry(set, registry, options);
    return await finishAt(registry, { result, events, flags });
  }
  const result = await mirror.mirrorToCarried(set, flags.to, { ...options, since: flags.since });
  const files = await mirror.writeRecordFile(flags.results, result.record);
  const record = files.names.map((name) => join(flags.results, name)).join(', ');
  const next = `rukpakctl mirror --from ${flags.to} --to REGISTRY`;
  await finish(events, result, [
    `wrote ${record}: keep it for --since`,
    ...previousLines(files),
    `carry ${flags.to} to where the mirror is, then run: ${next}`,
  ]);
}

async function pushCarried(from: string, flags: MirrorFlags): Promise<void> {
  const mirror = await import('../../../catalog/mirror/index.ts');
  if (mirror.isCarriedPlace(flags.to)) {
    throw new TerminalError(`--to ${flags.to} is no registry: --from is pushed to one`);
  }
  if (flags.since !== undefined) throw new TerminalError('--since needs --config');
  const report = new Report(flags);
  const registry = mirror.parseMirrorRegistry(flags.to, flags.insecureRegistry);
  const events = new EventReport(report, new ProgressLine(process.stderr));
  const options = await mirrorOptions(flags, events);
  const result = await mirror.pushCarried(from, registry, options);
  await finishAt(registry, { result, events, flags });
}

interface Finished {
  readonly result: MirrorResult;
  readonly events: EventReport;
  readonly flags: MirrorFlags;
}

async function finishAt(registry: MirrorRegistry, finished: Finished): Promise<void> {
  const { result, events, flags } = finished;
  const { writeMirrorFiles } = await import('../../../catalog/mirror/index.ts');
  const files = await writeMirrorFiles(flags.results, result, registry);
  const { names } = files;
  await finish(events, result, [
    ...(names.length === 0 ? [] : [`wrote ${names.join(', ')} to ${flags.results}`]),
    ...previousLines(files),
    ...incompleteLines(files),
  ]);
}

function previousLines({ previous }: WrittenFiles): readonly string[] {
  if (previous.length === 0) return [];
  const kept = previous.map((name) => `${name}.previous`);
  return [`note: an earlier run had written other files there, which are ${kept.join(', ')} now`];
}

function incompleteLines({ incomplete }: WrittenFiles): readonly string[] {
  if (incomplete.length === 0) return [];
  const own = incomplete.map((name) => `${name}.incomplete`);
  return [
    `note: images have failed, so the files that an earlier run had written there stay; those of this run are ${own.join(', ')}`,
  ];
}

async function finish(
  events: EventReport,
  { images, failures }: MirrorResult,
  lines: readonly string[],
): Promise<void> {
  await events.printed();
  const { report } = events;
  const counts = `${images.length} mirrored, ${failures.size} failed`;
  const again =
    failures.size === 0 ? [] : ['run the same command again: it goes on with what is missing'];
  await report.lines([...lines, counts, ...again]);
  const failed = [...failures].map(([source, problem]) => ({ source, problem }));
  await report.result({ images, failed });
  if (failures.size > 0) process.exitCode = 1;
}

async function mirrorOptions(flags: MirrorFlags, events: EventReport): Promise<MirrorOptions> {
  const [{ registryAccess }, { parsePlatform }] = await Promise.all([
    import('../../registry-access.ts'),
    import('../../../core/registry/index.ts'),
  ]);
  const access = await registryAccess(flags);
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () =>
      controller.abort(new TerminalError('interrupted: run the same command again to go on')),
    );
  }
  return {
    access,
    perHost: flags.maxPerRegistry,
    ...(flags.platform === undefined ? {} : { platform: parsePlatform(flags.platform) }),
    onEvent: (event) => events.watch(event),
    signal: controller.signal,
  };
}
