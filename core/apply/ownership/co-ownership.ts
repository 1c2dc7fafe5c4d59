import { stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Clock } from '../../platform/clock.ts';
import type { FieldConflict } from '../fields/field-conflicts.ts';
import { fieldsBeyond, otherManagers } from '../fields/managed-fields.ts';
import { managedFieldsOf } from '../fields/projection.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { describeObject } from '../objects/object-id.ts';
import type { Release } from './ownership.ts';

const markLabels = [label.ownerKind, label.ownerName, label.partOf];
const markAnnotations = [annotation.trackingID];
const listedFields = 10;
const rememberedObjects = 1000;
/** Milliseconds in which the same message about the same object is not repeated. */
const quietPeriod = 10 * 60_000;

interface CoOwnershipOptions {
  readonly events: EventSink;
  readonly clock: Clock;
}

interface Told {
  readonly text: string;
  readonly at: number;
}

/**
 * Records Warning Events on a deployment whose fields or objects other managers have too, or whose
 * objects others do not let it mark.
 */
export class CoOwnership {
  readonly #options: CoOwnershipOptions;
  /** Last message by object or release, the oldest first. */
  readonly #told = new Map<string, Told>();

  constructor(options: CoOwnershipOptions) {
    this.#options = options;
  }

  /** A repair reverted what others had changed or removed. */
  putBack(
    owner: BundleDeployment,
    desired: DesiredObject,
    { before, after }: { readonly before: KubernetesObject; readonly after: KubernetesObject },
  ): void {
    const [own, left] = [managedFieldsOf(after), managedFieldsOf(before)];
    if (own === undefined || left === undefined) return;
    const fields = fieldsBeyond(own, left);
    if (fields.length === 0) return;
    const [latest] = otherManagers(before);
    const who = latest === undefined ? 'by others' : `by "${latest.name}"${at(latest.time)}`;
    const text = `${fieldList(fields)} changed ${who}, and core reverted that`;
    this.#tell(owner, desired, { reason: 'FieldsPutBack', text });
  }

  /** An apply took over fields that others had set; `before` is the object before the apply. */
  taken(
    owner: BundleDeployment,
    desired: DesiredObject,
    {
      before,
      conflicts,
    }: { readonly before: KubernetesObject; readonly conflicts: readonly FieldConflict[] },
  ): void {
    const managers = otherManagers(before);
    const texts = [...Map.groupBy(conflicts, ({ manager }) => manager)].map(([manager, found]) => {
      const time = managers.find(({ name }) => name === manager)?.time;
      return `${fieldList(found.map(({ field }) => field))} set by "${manager}"${at(time)}`;
    });
    const text = `${texts.join('; ')}, and core overwrote that with the values of the bundle`;
    this.#tell(owner, desired, { reason: 'FieldsTaken', text });
  }

  /** The response to an apply: admission may have removed what marks the object as core's. */
  stored(owner: BundleDeployment, desired: DesiredObject, { metadata }: KubernetesObject): void {
    const { labels, annotations } = desired.object.metadata;
    const lost = [
      ...lostMarks(markLabels, labels, metadata.labels).map((key) => `label ${key}`),
      ...lostMarks(markAnnotations, annotations, metadata.annotations).map(
        (key) => `annotation ${key}`,
      ),
    ];
    if (lost.length === 0) return;
    const { id, resource, key } = desired;
    const message =
      `${describeObject(resource.kind, key)} was stored without ${lost.join(', ')}: ` +
      'an admission webhook or policy removes them, or sets other values. Core cannot watch, repair or delete such an object reliably: ' +
      'exempt it from that webhook or policy';
    if (!this.#isNews(id, message)) return;
    this.#options.events.event(owner, { type: 'Warning', reason: 'MarksRemoved', message });
  }

  /** Core has adopted an object of a Helm release, whose record still lists it. */
  adopted(owner: BundleDeployment, { name, namespace }: Release): void {
    // Anybody may write the marks of a release, and people copy the command.
    if (!isName(name) || !isName(namespace)) return;
    const message =
      `core has adopted objects of Helm release "${name}" in namespace "${namespace}", and "helm uninstall ${name}" would delete them, with their data. ` +
      `Delete the record of the release instead: kubectl delete secret --namespace=${namespace} --selector=owner=helm,name=${name}`;
    if (!this.#isNews(`${owner.metadata.name}/${namespace}/${name}`, message)) return;
    const { events } = this.#options;
    events.event(owner, { type: 'Warning', reason: 'HelmReleaseAdopted', message });
  }

  #tell(
    owner: BundleDeployment,
    { id, resource, key }: DesiredObject,
    { reason, text }: { readonly reason: string; readonly text: string },
  ): void {
    // The time differs at each repetition, and is not news.
    if (!this.#isNews(id, text.replaceAll(/ at [^ ,;]+/g, ''))) return;
    const message =
      `${describeObject(resource.kind, key)}: ${text}. ` +
      'Add the fields to spec.drift.ignore to leave them to the other manager, or stop that one from setting them';
    this.#options.events.event(owner, { type: 'Warning', reason, message });
  }

  /** Whether this was not told of the same just now. */
  #isNews(id: string, text: string): boolean {
    const at = this.#options.clock.monotonic();
    const known = this.#told.get(id);
    if (known?.text === text && at - known.at < quietPeriod) return false;
    this.#told.delete(id);
    this.#told.set(id, { text, at });
    for (const oldest of this.#told.keys()) {
      if (this.#told.size <= rememberedObjects) break;
      this.#told.delete(oldest);
    }
    return true;
  }
}

type Marks = Readonly<Record<string, string>> | undefined;

function lostMarks(keys: readonly string[], wanted: Marks, stored: Marks): readonly string[] {
  return keys.filter((key) => stringAt(stored, key) !== stringAt(wanted, key));
}

function isName(text: string): boolean {
  return /^[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?$/.test(text);
}

function at(time: string | undefined): string {
  return time === undefined ? '' : ` at ${time}`;
}

function fieldList(fields: readonly string[]): string {
  const shown = [...new Set(fields)].slice(0, listedFields).map((field) => field.slice(0, 200));
  const more = fields.length - shown.length;
  const rest = more > 0 ? ` and ${more} more` : '';
  return `${shown.join(', ')}${rest} ${fields.length === 1 ? 'was' : 'were'}`;
}
