import { goQuote } from '../../../api/go-quote.ts';
import type { Condition, KubernetesObject } from '../../../api/meta.ts';
import { progressReason } from '../../../api/v1alpha1/index.ts';
import { findCondition } from '../../../core/controller.ts';
import { shortList } from '../../../core/short-list.ts';
import type { ConditionUpdate } from '../findings.ts';
import { dependenciesSatisfied, dependencyNotInstalled } from '../status/dependency-condition.ts';
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
  readonly state: 'met' | 'awaited' | 'missing';
  readonly text: string;
  /** The Operator that is to meet it. */
  readonly operator?: string;
  /** Nothing waits for it. */
  readonly isIgnored?: boolean;
}

/** What each Operator is told, by its name. */
export function outcomesOf(
  { judged }: Plan,
  operator: (name: string) => KubernetesObject | undefined,
): ReadonlyMap<string, Outcome> {
  const all = new Map<Requirer, readonly Judgement[]>();
  for (const [requirer, list] of judged) {
    if (list.length > 0)
      all.set(
        requirer,
        list.map((each) => judgementOf(each, operator)),
      );
  }
  const waits = new Waits(all);
  const outcomes = [...all].map(([requirer, list]): [string, Outcome] => {
    const { bundle } = requirer.choice ?? { bundle: undefined };
    const isHeld = !requirer.isPlaced && waits.isHeld(requirer.name);
    const condition = conditionOf(bundle?.name ?? '', list);
    return [requirer.name, { image: bundle?.image ?? '', isHeld, condition }];
  });
  return new Map(outcomes);
}

function judgementOf(
  judged: JudgedDependency,
  operator: (name: string) => KubernetesObject | undefined,
): Judgement {
  const { dependency, target, refusal } = judged;
  const { text } = dependency;
  if (target.kind === 'met') return { state: 'met', text: `${text} (of ${target.of})` };
  if (target.kind === 'problem') {
    return { state: 'missing', text: `${text}: ${target.text}`, isIgnored: !target.holds };
  }
  if (refusal !== undefined) return { state: 'missing', text: `${text}: ${refusal}` };
  if (target.kind === 'package') return ofMade(judged, target.name, operator(target.name));
  const { by } = target;
  const { name = '' } = by.metadata;
  const owner = `${by.kind} ${goQuote(name)}, which has the package,`;
  const waits = { state: 'awaited', text: `${text}: ${owner} ${progressOf(by)}` } as const;
  return by.kind === 'Operator' ? { ...waits, operator: name } : waits;
}

function ofMade(
  { dependency: { text, metBy }, isInstalled }: JudgedDependency,
  name: string,
  made: KubernetesObject | undefined,
): Judgement {
  const operator = `Operator ${goQuote(name)}`;
  if (metBy?.isInstalled === true) return { state: 'met', text: `${text} (of ${metBy.of})` };
  if (isInstalled) return { state: 'met', text: `${text} (of ${operator})` };
  const progress = made === undefined ? 'is not there yet' : progressOf(made);
  return {
    state: 'awaited',
    text: `${text}: ${operator}, made for it, ${progress}`,
    operator: name,
  };
}

const longestMessage = 300;

function progressOf(object: KubernetesObject): string {
  const { conditions } = (object['status'] ?? {}) as { conditions?: readonly Condition[] };
  const ready = findCondition(conditions, 'Ready');
  if (ready === undefined) return 'has no status yet';
  const { status, reason, message } = ready;
  // The other one may wait for this one: messages that repeat each other would grow for ever.
  if (reason === progressReason.waitingForDependencies) return 'waits for its own dependencies';
  if (status === 'True') return `has version ${versionOf(object)}`;
  const text = message.slice(0, longestMessage).toWellFormed();
  return `is not installed yet: ${text}${message.length > longestMessage ? '…' : ''}`;
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
  const [missing, awaited] = [of('missing'), of('awaited')];
  const type = dependenciesSatisfied;
  if (missing.length > 0) {
    const message = `bundle "${bundle}" requires ${shortList(missing, most)}`;
    return { type, status: 'False', reason: 'DependencyMissing', message };
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
