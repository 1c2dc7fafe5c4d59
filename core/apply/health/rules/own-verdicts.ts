import { setImmediate as othersTurn } from 'node:timers/promises';
import { stringifyJson } from '../../../../api/json.ts';
import type { HealthRule } from '../../../../api/v1alpha1/deployment-policies.ts';
import type { JudgedObject, ObjectJudge, Verdict } from '../../../contracts/object-judge.ts';
import { errorMessage } from '../../../errors.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Resource } from '../../../platform/kube/index.ts';
import type { InventoryEntry } from '../../inventory/entry.ts';
import { inProgress, type ObjectStatus } from '../status.ts';

export interface VerdictOptions {
  readonly judge: ObjectJudge;
  readonly clock: Clock;
  /** The life of the process. */
  readonly signal: AbortSignal;
  /** Called with the ID of an object that may have another status now. */
  readonly onJudged: (id: string) => void;
}

interface OwnVerdictsOptions extends VerdictOptions {
  readonly owner: string;
  readonly rules: readonly HealthRule[];
}

interface JudgedRecord {
  readonly id: string;
  /** Of the desired object. */
  readonly digest: string;
}

interface Known {
  readonly uid: string | undefined;
  readonly version: string;
  /** Of the desired object. */
  digest: string;
  readonly status: ObjectStatus;
  /** When a newer version of the object was first seen. */
  outdated?: number;
}

interface Waiting {
  readonly rule: number;
  readonly digest: string;
  readonly entry: InventoryEntry;
}

/** Of an object that nobody has judged yet. */
const notYetJudged = 'spec.health is being evaluated';

/** At once, for no deployment to keep a worker process from others, nor its objects' texts in memory. */
const maxObjects = 256;
const maxCharacters = 4 * 1024 * 1024;

/** Milliseconds of work between two looks at what else there is to do. */
const maxTurn = 10;

/** Milliseconds for which a verdict of an earlier version of an object counts. */
const maxOutdated = 10_000;

/** Milliseconds until rules that failed are evaluated again; doubled each time. */
const firstPause = 10_000;
const longestPause = 600_000;

/** What the rules of one deployment say of its objects, as far as they have been evaluated. */
export class OwnVerdicts {
  readonly #options: OwnVerdictsOptions;
  readonly #known = new Map<string, Known>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #ended = new AbortController();
  readonly #signal: AbortSignal;
  #running = false;
  #problem: string | undefined;

  constructor(options: OwnVerdictsOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#ended.signal]);
  }

  /** The same for every object that has no verdict. */
  get #missing(): ObjectStatus {
    const missingVerdict = this.#problem === undefined ? 'pending' : 'failed';
    return { ...inProgress(this.#problem ?? notYetJudged), missingVerdict };
  }

  /** The status of an object by one of the rules; where it is not known it is about to be. */
  status(rule: number, { id, digest }: JudgedRecord, entry: InventoryEntry): ObjectStatus {
    // Its content is about to be read.
    if (entry.slim) return this.#missing;
    const known = this.#known.get(id);
    if (known !== undefined && known.version === versionOf(entry)) {
      known.digest = digest;
      return known.status;
    }
    this.#request(id, { rule, digest, entry });
    if (this.#problem !== undefined || known === undefined) return this.#missing;
    if (this.#counts(known, { digest, entry })) return known.status;
    this.#known.delete(id);
    return this.#missing;
  }

  /** Forgets all other objects. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const map of [this.#known, this.#waiting]) {
      for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
    }
  }

  /** Ends what is running. */
  end(): void {
    this.#ended.abort(new Error(`the rules of ${this.#options.owner} are no longer asked for`));
  }

  /**
   * As if the watch were that much later. After an upgrade of the object it never counts: of what
   * was healthy before nobody knows whether it is.
   */
  #counts(known: Known, { digest, entry }: Pick<Waiting, 'digest' | 'entry'>): boolean {
    const now = this.#options.clock.monotonic();
    known.outdated ??= now;
    const isSame = known.digest === digest && known.uid === entry.object.metadata.uid;
    return isSame && now - known.outdated <= maxOutdated;
  }

  #request(id: string, waiting: Waiting): void {
    this.#waiting.set(id, waiting);
    if (this.#running || this.#signal.aborted) return;
    this.#running = true;
    void this.#run();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { clock } = this.#options;
    let pause = firstPause;
    try {
      // Whoever asks for one object asks for all of them in the same turn.
      await othersTurn();
      while (this.#waiting.size > 0) {
        if (await this.#judgeSome()) {
          pause = firstPause;
          continue;
        }
        await clock.sleep(pause, this.#signal);
        pause = Math.min(2 * pause, longestPause);
      }
    } catch {
      // The rules are no longer asked for.
    } finally {
      this.#running = false;
    }
  }

  /** False where the rules failed. */
  async #judgeSome(): Promise<boolean> {
    const { judge, owner, rules } = this.#options;
    const batch = new Map<string, Waiting>();
    try {
      const objects = await this.#take(batch);
      const verdicts = await judge.judge({ owner, rules, objects, signal: this.#signal });
      this.#signal.throwIfAborted();
      this.#problem = undefined;
      for (const [at, [id, waiting]] of [...batch].entries()) this.#keep(id, waiting, verdicts[at]);
      await this.#tell(batch.keys());
      return true;
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#problem = errorMessage(error);
      for (const [id, waiting] of batch) {
        if (!this.#waiting.has(id)) this.#waiting.set(id, waiting);
      }
      await this.#tell([...this.#waiting.keys()]);
      return false;
    }
  }

  /** Moves the next ones into the batch. */
  async #take(batch: Map<string, Waiting>): Promise<readonly JudgedObject[]> {
    const objects: JudgedObject[] = [];
    let [characters, turn] = [0, performance.now()];
    for (const [id, waiting] of this.#waiting) {
      this.#waiting.delete(id);
      batch.set(id, waiting);
      const json = stringifyJson(waiting.entry.object);
      objects.push({ rule: waiting.rule, json });
      characters += json.length;
      if (objects.length >= maxObjects || characters >= maxCharacters) break;
      turn = await yielded(turn);
    }
    return objects;
  }

  #keep(id: string, { digest, entry }: Waiting, verdict: Verdict | undefined): void {
    if (verdict === undefined) return;
    const { uid } = entry.object.metadata;
    this.#known.set(id, { uid, version: versionOf(entry), digest, status: verdict });
  }

  async #tell(ids: Iterable<string>): Promise<void> {
    let turn = performance.now();
    for (const id of ids) {
      this.#options.onJudged(id);
      turn = await yielded(turn);
      this.#signal.throwIfAborted();
    }
  }
}

/** Lets others have their turn where this one, which began then, is long; returns when it began. */
async function yielded(turn: number): Promise<number> {
  if (performance.now() - turn <= maxTurn) return turn;
  await othersTurn();
  return performance.now();
}

/** The history tells it from one that the server had before its store was restored. */
function versionOf({ object: { metadata }, history }: InventoryEntry): string {
  return `${metadata.uid}/${metadata.resourceVersion}/${history ?? 0}`;
}

/** The rules of one deployment, and what they have said so far. */
export interface OwnRules {
  /** What they were made of. */
  readonly source: string;
  readonly byKind: RulesByKind;
  readonly verdicts: OwnVerdicts;
}

/** Which of a deployment's rules is for a kind; of two for one kind the first counts. */
export class RulesByKind {
  readonly #indexes: ReadonlyMap<string, number>;

  constructor(rules: readonly HealthRule[]) {
    const entries = rules.map(
      ({ group = '', kind }, index) => [`${kind}.${group}`, index] as const,
    );
    this.#indexes = new Map(entries.toReversed());
  }

  /** The index of the rule; undefined where the built-in one counts. */
  find({ group, kind }: Pick<Resource, 'group' | 'kind'>): number | undefined {
    return this.#indexes.get(`${kind}.${group}`);
  }
}
