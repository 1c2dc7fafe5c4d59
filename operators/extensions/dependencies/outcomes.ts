import { goQuote } from '../../../api/go-quote.ts';
import type { Condition, KubernetesObject } from '../../../api/meta.ts';
import { progressReason } from '../../../api/v1alpha1/index.ts';
import { findCondition } from '../../../core/controller.ts';
import { shortList } from '../../../core/short-list.ts';
import type { ConditionUpdate } from '../findings.ts';
import { dependenciesSatisfied, dependencyNotInstalled } from '../status/dependency-condition.ts';
import { isAtWork } from '../status/readiness.ts';
import type { JudgedDependency, Plan } from './plan.ts';
import type { Requirer } from './requirers.ts';

/** What an Operator's chosen bundle has of what it requires. */
export interface Outcome {
  /** Of the bundle. */
  readonly image: string;
  /** Whether the bundle waits for it. */
  readonly isHeld: boolean;
  readonly condition: ConditionUpdate;
}

interface Judgement {
  /** `failed`: what is to meet it cannot be installed until something changes. */
  readonly state: 'met' | 'awaited' | 'failed' | 'missing';
  readonly text: string;
  /** The beginning of `text`, without what becomes of the Operator. */
  readonly subject?: string;
  /** The Operator that is to meet it. */
  readonly operator?: string;
  /** Nothing waits for it. */
  readonly isIgnored?: boolean;
}

/** What has become of the Operators that a plan makes. */
interface Making {
  readonly operator: (name: string) => KubernetesObject | undefined;
  /** Why the last attempt to write it failed. */
  readonly failure: (name: string) => string | undefined;
  /** Those that do not name all yet that require them. */
  readonly unwritten: ReadonlySet<string>;
}

/** What each Operator is told, by its name. */
export function outcomesOf(
  { judged }: Plan,
  { unwritten, ...written }: Making,
): ReadonlyMap<string, Outcome> {
  const making = { ...written, unwritten: withDependents(unwritten, judged) };
  const all = new Map<Requirer, readonly Judgement[]>();
  for (const [requirer, list] of judged) {
    if (list.length > 0)
      all.set(
        requirer,
        list.map((each) => judgementOf(each, requirer, making)),
      );
  }
  const waits = new Waits(all);
  const held = new Map(
    [...all].flatMap(([{ name, isPlaced }, list]) => (isPlaced ? [] : [[name, list] as const])),
  );
  const outcomes = [...all].map(([requirer, list]): [string, Outcome] => {
    const { bundle } = requirer.choice ?? { bundle: undefined };
    const isHeld = !requirer.isPlaced && waits.isHeld(requirer.name);
    const condition = conditionOf(
      bundle?.name ?? '',
      list.map((each) => withCause(each, requirer.name, held)),
    );
    return [requirer.name, { image: bundle?.image ?? '', isHeld, condition }];
  });
  return new Map(outcomes);
}

/** Also the placed Operators that require one of them, directly or through others. */
function withDependents(names: ReadonlySet<string>, judged: Plan['judged']): ReadonlySet<string> {
  // Iterating a Set includes values that are added meanwhile.
  const reached = new Set(names);
  for (const name of reached) {
    const leadsTo = ({ target }: JudgedDependency) =>
      target.kind === 'package' && target.name === name;
    for (const [requirer, list] of judged) {
      if (requirer.isPlaced && list.some(leadsTo)) reached.add(requirer.name);
    }
  }
  return reached;
}

function judgementOf(judged: JudgedDependency, { isPlaced }: Requirer, making: Making): Judgement {
  const { dependency, target, refusal } = judged;
  const { text } = dependency;
  if (target.kind === 'met') return { state: 'met', text: `${text} (of ${target.of})` };
  if (target.kind === 'problem') {
    return { state: 'missing', text: `${text}: ${target.text}`, isIgnored: !target.holds };
  }
  if (refusal !== undefined) return { state: 'missing', text: `${text}: ${refusal}` };
  if (target.kind === 'package') return ofMade(judged, target.name, { isPlaced, ...making });
  const { by } = target;
  const { name = '' } = by.metadata;
  const subject = `${text}: ${by.kind} ${goQuote(name)}, which has the package,`;
  const waits = awaiting(subject, by);
  return by.kind === 'Operator' ? { ...waits, operator: name } : waits;
}

function awaiting(subject: string, object: KubernetesObject): Judgement {
  const state = isFailing(object) ? 'failed' : 'awaited';
  return { state, subject, text: `${subject} ${progressOf(object)}` };
}

/** What waits for something that fails, or that a user has to do, says what that is. */
function withCause(
  judgement: Judgement,
  requirer: string,
  held: ReadonlyMap<string, readonly Judgement[]>,
): Judgement {
  const { state, operator, subject } = judgement;
  if (state !== 'awaited' || operator === undefined) return judgement;
  // Iterating a Set includes values that are added meanwhile.
  const reached = new Set([operator]);
  for (const name of reached) {
    const list = name === requirer ? [] : (held.get(name) ?? []);
    const cause = list.find(isCause);
    if (cause !== undefined) {
      return { state: cause.state, text: `${subject} waits for ${cause.text}` };
    }
    for (const each of list.flatMap((next) => next.operator ?? [])) reached.add(each);
  }
  return judgement;
}

function isCause({ state, isIgnored = false }: Judgement): boolean {
  return (state === 'failed' || state === 'missing') && !isIgnored;
}

function ofMade(
  { dependency: { text, metBy }, isInstalled }: JudgedDependency,
  name: string,
  { isPlaced, operator, failure, unwritten }: Making & Pick<Requirer, 'isPlaced'>,
): Judgement {
  const quoted = `Operator ${goQuote(name)}`;
  const subject = `${text}: ${quoted}, made for it,`;
  const refusal = failure(name);
  if (refusal !== undefined) return { state: 'missing', text: `${text}: ${refusal}` };
  if (!isPlaced && unwritten.has(name)) {
    return { state: 'awaited', text: `${subject} is not marked as required yet` };
  }
  if (metBy?.isInstalled === true) return { state: 'met', text: `${text} (of ${metBy.of})` };
  if (isInstalled) return { state: 'met', text: `${text} (of ${quoted})` };
  const made = operator(name);
  if (made !== undefined) return { ...awaiting(subject, made), operator: name };
  return { state: 'awaited', subject, text: `${subject} is not there yet`, operator: name };
}

const longestMessage = 300;

function readyOf(object: KubernetesObject): Condition | undefined {
  const { conditions } = (object['status'] ?? {}) as { conditions?: readonly Condition[] };
  return findCondition(conditions, 'Ready');
}

/** Whether an Operator or ClusterExtension says that something is wrong, not that it is at work. */
function isFailing(object: KubernetesObject): boolean {
  const ready = readyOf(object);
  return ready?.status === 'False' && !isAtWork(ready.reason);
}

function progressOf(object: KubernetesObject): string {
  const ready = readyOf(object);
  if (ready === undefined) return 'has no status yet';
  const { status, reason, message } = ready;
  // The other one may wait for this one: messages that repeat each other would grow for ever.
  if (reason === progressReason.waitingForDependencies) return 'waits for its own dependencies';
  if (status === 'True') return `has version ${versionOf(object)}`;
  const text = message.slice(0, longestMessage).toWellFormed();
  const cause = `${text}${message.length > longestMessage ? '…' : ''}`;
  return `${isFailing(object) ? 'cannot be installed' : 'is not installed yet'}: ${cause}`;
}

function versionOf(object: KubernetesObject): string {
  const { installed, install } = (object['status'] ?? {}) as {
    installed?: { version: string };
    install?: { bundle?: { version: string } };
  };
  return installed?.version ?? install?.bundle?.version ?? 'unknown';
}

const most = 5;

function conditionOf(bundle: string, judgements: readonly Judgement[]): ConditionUpdate {
  const of = (state: Judgement['state']) =>
    judgements.flatMap((each) => (each.state === state ? [each.text] : []));
  const [missing, failed, awaited] = [of('missing'), of('failed'), of('awaited')];
  const type = dependenciesSatisfied;
  if (missing.length > 0) {
    const message = `bundle "${bundle}" requires ${shortList(missing, most)}`;
    return { type, status: 'False', reason: 'DependencyMissing', message };
  }
  if (failed.length > 0) {
    const message = `bundle "${bundle}" requires ${shortList(failed, most)}`;
    return { type, status: 'False', reason: 'DependencyFailed', message };
  }
  if (awaited.length > 0) {
    const message = `bundle "${bundle}" requires ${shortList(awaited, most)}`;
    return { type, status: 'False', reason: dependencyNotInstalled, message };
  }
  const message = `bundle "${bundle}" requires ${shortList(of('met'), most)}`;
  return { type, status: 'True', reason: 'Satisfied', message };
}

/** Which Operators wait for which; those that wait for one another are installed together. */
class Waits {
  readonly #awaited = new Map<string, ReadonlySet<string>>();
  readonly #reached = new Map<string, ReadonlySet<string>>();
  readonly #blocked = new Set<string>();

  constructor(all: ReadonlyMap<Requirer, readonly Judgement[]>) {
    for (const [{ name }, list] of all) {
      const isBlocking = ({ state, operator, isIgnored }: Judgement) =>
        state !== 'met' && operator === undefined && isIgnored !== true;
      if (list.some(isBlocking)) this.#blocked.add(name);
      this.#awaited.set(name, new Set(list.flatMap(({ operator }) => operator ?? [])));
    }
  }

  isHeld(name: string): boolean {
    const together = new Set([name]);
    for (const each of this.#reachedFrom(name)) {
      if (this.#reachedFrom(each).has(name)) together.add(each);
    }
    return [...together].some(
      (each) =>
        this.#blocked.has(each) || !(this.#awaited.get(each) ?? new Set()).isSubsetOf(together),
    );
  }

  #reachedFrom(name: string): ReadonlySet<string> {
    const known = this.#reached.get(name);
    if (known !== undefined) return known;
    const reached = new Set(this.#awaited.get(name));
    // Iterating a Set includes values that are added meanwhile.
    for (const each of reached) {
      for (const next of this.#awaited.get(each) ?? []) reached.add(next);
    }
    this.#reached.set(name, reached);
    return reached;
  }
}
