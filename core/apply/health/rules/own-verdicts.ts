import { setImmediate as othersTurn } from 'node:timers/promises';
import { stringifyJson } from '../../../../api/json.ts';
import type { HealthRule } from '../../../../api/v1alpha1/deployment-policies.ts';
import type { JudgedObject, ObjectJudge, Verdict } from '../../../contracts/object-judge.ts';
import { errorMessage } from '../../../errors.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Resource } from '../../../platform/kube/index.ts';
import { Turns } from '../../../platform/turns.ts';
import type { InventoryEntry } from '../../inventory/entry.ts';
import { inProgress, type ObjectStatus } from '../status.ts';

export interface VerdictOptions {
  readonly judge: ObjectJudge;
  readonly clock: Clock;
  /** Aborted when the process ends. */
  readonly signal: AbortSignal;
  /** Called with the ID of an object whose status may have changed. */
  readonly onJudged: (id: string) => void;
}

interface OwnVerdictsOptions extends VerdictOptions {
  readonly owner: string;
  /** The deployment's creator at present. */
  readonly creator: string;
  readonly rules: readonly HealthRule[];
}

interface JudgedRecord {
  readonly id: string;
  /** Digest of the desired object. */
  readonly digest: string;
}

interface Known {
  readonly uid: string | undefined;
  readonly version: string;
  /** Digest of the desired object. */
  digest: string;
  readonly status: ObjectStatus;
  /** When core first saw a newer version of the object. */
  outdated?: number;
}

interface Waiting {
  readonly rule: number;
  readonly digest: string;
  readonly entry: InventoryEntry;
}

/** Message for an object without a verdict. */
const notYetJudged = 'spec.health is being evaluated';

/**
 * Maximum number of objects per call, so that no deployment keeps a worker process from others, or
 * its objects' texts in memory.
 */
const maxObjects = 256;
const maxCharacters = 4 * 1024 * 1024;

/** Milliseconds for which the verdict on an earlier version of an object counts. */
const maxOutdated = 10_000;

/** Milliseconds until failed rules are evaluated again; doubles each time. */
const firstPause = 10_000;
const longestPause = 600_000;

/** The verdicts of one deployment's rules about its objects, as far as they have been evaluated. */
export class OwnVerdicts {
  readonly #options: OwnVerdictsOptions;
  readonly #known = new Map<string, Known>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #ended = new AbortController();
  readonly #signal: AbortSignal;
  #creator: string;
  #running = false;
  #problem: string | undefined;

  constructor(options: OwnVerdictsOptions) {
    this.#options = options;
    this.#creator = options.creator;
    this.#signal = AbortSignal.any([options.signal, this.#ended.signal]);
  }

  /** One shared status for every object without a verdict. */
  get #missing(): ObjectStatus {
    const missingVerdict = this.#problem === undefined ? 'pending' : 'failed';
    return { ...inProgress(this.#problem ?? notYetJudged), missingVerdict };
  }

  /** The status of an object by one of the rules; when it is unknown, its evaluation is queued. */
  status(rule: number, { id, digest }: JudgedRecord, entry: InventoryEntry): ObjectStatus {
    // The content of a slim entry is read again soon.
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

  /** From now on they are evaluated in this creator's turns. */
  changeCreator(creator: string): void {
    this.#creator = creator;
  }

  /** Forgets all other objects. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const map of [this.#known, this.#waiting]) {
      for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
    }
  }

  /** Stops the running evaluation. */
  end(): void {
    this.#ended.abort(new Error(`the rules of ${this.#options.owner} are no longer asked for`));
  }

  /**
   * Whether the verdict on an earlier version still counts, as if the watch lagged by that time. It
   * never counts after an upgrade of the object: health of the old content says nothing about the
   * new.
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
      // A caller asks for all objects in the same turn: wait for the rest.
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
      // The rules are no longer needed.
    } finally {
      this.#running = false;
    }
  }

  /** False when the rules failed. */
  async #judgeSome(): Promise<boolean> {
    const { judge, owner, rules } = this.#options;
    const batch = new Map<string, Waiting>();
    try {
      const objects = await this.#take(batch);
      const request = { owner, creator: this.#creator, rules, objects, signal: this.#signal };
      const verdicts = await judge.judge(request);
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

  /** Moves the next objects into the batch. */
  async #take(batch: Map<string, Waiting>): Promise<readonly JudgedObject[]> {
    const objects: JudgedObject[] = [];
    const turns = new Turns();
    let characters = 0;
    for (const [id, waiting] of this.#waiting) {
      this.#waiting.delete(id);
      batch.set(id, waiting);
      const json = stringifyJson(waiting.entry.object);
      objects.push({ rule: waiting.rule, json });
      characters += json.length;
      if (objects.length >= maxObjects || characters >= maxCharacters) break;
      if (turns.isDue) await turns.give();
    }
    return objects;
  }

  #keep(id: string, { digest, entry }: Waiting, verdict: Verdict | undefined): void {
    if (verdict === undefined) return;
    const { uid } = entry.object.metadata;
    this.#known.set(id, { uid, version: versionOf(entry), digest, status: verdict });
  }

  async #tell(ids: Iterable<string>): Promise<void> {
    const turns = new Turns();
    for (const id of ids) {
      this.#options.onJudged(id);
      if (turns.isDue) await turns.give();
      this.#signal.throwIfAborted();
    }
  }
}

/** `history` distinguishes it from the same version before the server's store was restored. */
function versionOf({ object: { metadata }, history }: InventoryEntry): string {
  return `${metadata.uid}/${metadata.resourceVersion}/${history ?? 0}`;
}

/** The rules of one deployment, and their verdicts so far. */
export interface OwnRules {
  /** The rules as JSON text. */
  readonly source: string;
  readonly byKind: RulesByKind;
  readonly verdicts: OwnVerdicts;
}

/** Finds the rule of a deployment for a kind; the first of two rules for one kind counts. */
export class RulesByKind {
  readonly #indexes: ReadonlyMap<string, number>;

  constructor(rules: readonly HealthRule[]) {
    const entries = rules.map(
      ({ group = '', kind }, index) => [`${kind}.${group}`, index] as const,
    );
    this.#indexes = new Map(entries.toReversed());
  }

  /** Index of the rule; undefined when the built-in rule applies. */
  find({ group, kind }: Pick<Resource, 'group' | 'kind'>): number | undefined {
    return this.#indexes.get(`${kind}.${group}`);
  }
}
