import { Argument, Command } from 'commander';
import type { KubernetesObject } from '../../../api/meta.ts';
import { TerminalError } from '../../../core/errors.ts';
import type {
  ExtensionKindName,
  ExtensionProgress,
  PackageWish,
  UpgradePlan,
} from '../../../operators/client/index.ts';
import { durationOption } from '../../flags/flag-values.ts';
import { counted } from '../terminal/text.ts';
import { awaitReady } from './await-extension.ts';
import { stepLines } from './path.ts';
import {
  addResolutionFlags,
  channelOption,
  type OperatorFlags,
  type OperatorSession,
  refuseDeleted,
  warn,
  withOperators,
} from './session.ts';

interface UpgradeFlags extends OperatorFlags {
  readonly to?: string;
  readonly channel?: readonly string[];
  readonly force?: true;
  readonly watch?: true;
  readonly dryRun?: true;
  /** Milliseconds. */
  readonly timeout: number;
}

/** `rukpakctl operator upgrade`: changes version and channel, after a check of what that does. */
export function upgradeCommand(): Command {
  const command = new Command('upgrade')
    .addArgument(new Argument('<operatorName>', 'Name of the Operator or ClusterExtension'))
    .option('--to <versionOrRange>', 'New spec.version: a version or a range')
    .addOption(channelOption('New channel; repeatable for a ClusterExtension'))
    .option('--force', 'Upgrade, or downgrade, although no path of upgrades leads there')
    .option('-w, --watch', 'Wait for each upgrade; required if the path has several')
    .addOption(durationOption('--timeout', 'Maximum time of each upgrade, for --watch', '5m'))
    .option('--dry-run', 'Print what the upgrade would do, and change nothing');
  return addResolutionFlags(command).action(upgrade);
}

async function upgrade(reference: string, flags: UpgradeFlags): Promise<void> {
  const { planUpgrade, withWish } = await import('../../../operators/client/index.ts');
  const { to: version, channel: channels, force } = flags;
  if (version === undefined && channels === undefined) {
    throw new TerminalError('nothing to change: pass --to, --channel, or both');
  }
  await withOperators(flags, async (session) => {
    const extensions = await session.extensions();
    const live = extensions.named(reference);
    refuseDeleted(live);
    const wish: PackageWish = { version, channels, force };
    const subject = await extensions.subjectOf(withWish(live, wish));
    const catalogs = await session.catalogs();
    const plan = await session.progress('reading catalogs', () => planUpgrade(subject, catalogs));
    await session.report.lines(planLines(plan, session.report.width));
    if (plan.refusal !== undefined) {
      const { usesCatalog } = subject.extension;
      const isBlind = catalogs.unreachable.some(({ catalog }) => usesCatalog(catalog));
      const why = isBlind ? 'the upgrade cannot be checked without all catalogs' : plan.refusal;
      throw new TerminalError(`nothing is changed: ${why}`);
    }
    checkSteps(plan, reference, flags);
    // The upgrades before the last one set the version.
    const { request } = subject.extension;
    const last = plan.steps.length > 1 ? { ...wish, version: request.version } : wish;
    const work = { wish: last, plan, flags };
    const done = flags.dryRun === true ? [] : await carryOut(session, live, work);
    await session.report.result({ ...plan, changed: flags.dryRun !== true, states: done });
  });
}

function planLines({ from, target, stays, steps }: UpgradePlan, width: number): readonly string[] {
  if (target === undefined) return [];
  const to = target.version || target.name;
  if (stays) return [`${to} stays installed`];
  if (steps.length === 0) return [from === '' ? `Install ${to}` : `Change ${from} to ${to}`];
  const count = steps.length === 1 ? '' : ` in ${counted(steps.length, 'upgrade')}`;
  return [
    `Upgrade ${from || 'the installed bundle'} to ${to}${count}:`,
    ...stepLines(steps, width),
  ];
}

/** @throws TerminalError for several steps without --watch: each has to be installed before the next */
function checkSteps({ steps }: UpgradePlan, reference: string, flags: UpgradeFlags): void {
  if (steps.length < 2 || flags.watch === true || flags.dryRun === true) return;
  throw new TerminalError(
    `nothing is changed: the path has ${steps.length} upgrades: pass --watch to take one after the other, or begin with rukpakctl operator upgrade ${reference} --to ${steps[0]?.version}`,
  );
}

interface Work {
  readonly wish: PackageWish;
  readonly plan: UpgradePlan;
  readonly flags: UpgradeFlags;
}

async function carryOut(
  session: OperatorSession,
  live: KubernetesObject,
  { wish, plan: { steps }, flags }: Work,
): Promise<readonly ExtensionProgress[]> {
  const { extensionResources } = await import('../../../operators/client/index.ts');
  const kind = live.kind as ExtensionKindName;
  const resource = extensionResources[kind];
  const { name = '' } = live.metadata;
  const wishes = [...steps.slice(0, -1).map(({ version }) => ({ ...wish, version })), wish];
  const states: ExtensionProgress[] = [];
  let current = live;
  for (const each of wishes) {
    current = await change(session, current, each);
    const version = each.version === undefined ? '' : ` to version "${each.version}"`;
    await session.report.line(
      `${kind.toLowerCase()}.${resource.group} "${name}" changed${version}`,
    );
    // Before anything that can fail: the policy stays.
    if (flags.force === true && each === wishes[0]) await session.report.line(forcedText(kind));
    if (flags.watch !== true) continue;
    states.push(await awaitReady(session, { resource, name, timeout: flags.timeout }));
    const now = await session.cluster.client.get(resource, { name }, session.signal);
    if (!isSameSpec(now, current)) {
      throw new TerminalError(
        `another client changed ${kind} "${name}" meanwhile: rukpakctl stopped. Check its spec, and run the command again`,
      );
    }
    current = now;
  }
  return states;
}

/** The controller writes the status and annotations, and these are no other generation. */
function isSameSpec({ metadata: now }: KubernetesObject, { metadata }: KubernetesObject): boolean {
  return now.uid === metadata.uid && now.generation === metadata.generation;
}

function forcedText(kind: ExtensionKindName): string {
  const [now, before] =
    kind === 'Operator' ? ['Ignore', 'Enforce'] : ['SelfCertified', 'CatalogProvided'];
  return `upgradeConstraintPolicy is ${now} now: every allowed version is installed, downgrades too, until you set it to ${before}`;
}

/** Changes the named fields alone, unless the object has changed since it was read. */
async function change(
  { cluster: { client }, signal }: OperatorSession,
  live: KubernetesObject,
  wish: PackageWish,
): Promise<KubernetesObject> {
  const { extensionResources, otherManagers, wishPatch } = await import(
    '../../../operators/client/index.ts'
  );
  const kind = live.kind as ExtensionKindName;
  const { name = '', resourceVersion } = live.metadata;
  const patch = wishPatch(kind, wish);
  for (const manager of otherManagers(live, patch)) {
    warn(`field manager "${manager}" has applied these fields too, and may set them back`);
  }
  const target = { resource: extensionResources[kind], key: { name } };
  const body = { metadata: { resourceVersion }, ...patch };
  return await client.patch(target, body, { type: 'merge', signal });
}
