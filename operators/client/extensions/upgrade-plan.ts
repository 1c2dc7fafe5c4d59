import type { UpgradeStep } from '../../../resolver/explain/index.ts';
import { versionProblem } from '../../../resolver/versions/index.ts';
import { chooseInline, type Subject } from '../../extensions/index.ts';
import {
  type Contents,
  extensionPath,
  type SelectedBundle,
  selectedBundle,
} from './extension-answers.ts';

/** What a change of an extension would do. */
export interface UpgradePlan {
  /** The installed version; empty if none is installed. */
  readonly from: string;
  /** The bundle at the end; undefined if the change is refused. */
  readonly target: SelectedBundle | undefined;
  /** Whether the target is the installed bundle. */
  readonly stays: boolean;
  /** The upgrades to it, each a version of its own; none if it is installed, or nothing is. */
  readonly steps: readonly UpgradeStep[];
  /** Why the change would get no bundle, and what would help; undefined if it gets one. */
  readonly refusal: string | undefined;
}

/** @param subject as it is after the change */
export async function planUpgrade(subject: Subject, contents: Contents): Promise<UpgradePlan> {
  const { choice } = await chooseInline(subject, contents);
  const from = subject.installation.installed?.version ?? '';
  if (choice.kind === 'resolved') {
    const target = selectedBundle(choice);
    const stays = subject.installation.installed?.image === choice.bundle.image;
    const steps = stays ? [] : await stepsOf(subject, contents, target);
    return { from, target, stays, steps, refusal: undefined };
  }
  // Several upgrades lead nowhere if the controller refuses the first one.
  const isObjected = choice.kind === 'failed' && choice.reason !== 'unsatisfiable';
  const steps = isObjected ? [] : await stepsToVersion(subject, contents);
  const last = steps.at(-1);
  if (last !== undefined) {
    const target = { name: last.bundle, version: last.version, catalog: last.catalog };
    return { from, target, stays: false, steps, refusal: undefined };
  }
  const refusal = choice.kind === 'failed' ? choice.advice : choice.message;
  return { from, target: undefined, stays: false, steps: [], refusal };
}

/** The upgrade to the chosen bundle. */
async function stepsOf(
  subject: Subject,
  contents: Contents,
  target: SelectedBundle | undefined,
): Promise<readonly UpgradeStep[]> {
  if (subject.installation.installed === undefined || target === undefined) return [];
  const wanted = { to: target.version, bundle: target.name };
  const { path } = await extensionPath(subject, contents, wanted);
  return path.kind === 'path' ? path.steps : [];
}

/** Several upgrades to the one version that is asked for, which the resolver does not look for. */
async function stepsToVersion(
  subject: Subject,
  contents: Contents,
): Promise<readonly UpgradeStep[]> {
  const { version } = subject.extension.request;
  const isOne = version !== undefined && versionProblem(version) === undefined;
  if (subject.installation.installed === undefined || !isOne) return [];
  const { path } = await extensionPath(subject, contents, { to: version });
  return path.kind === 'path' && path.steps.length > 1 ? path.steps : [];
}
