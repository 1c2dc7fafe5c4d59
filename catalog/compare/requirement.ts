import type { JsonObject } from '../../api/json.ts';
import { isMap, listOf } from '../../api/json-fields.ts';
import { isInRange, parseRange, rangeProblem } from '../../resolver/versions/index.ts';
import { jsonText, type Property } from '../blobs/index.ts';
import type { BundleOutline } from './catalog-outline.ts';
import { memberOf, textAt } from './written-fields.ts';

/** Whether a bundle meets a requirement; undefined if only a cluster can tell. */
export type Verdict = boolean | undefined;

/** A dependency of a bundle. */
export interface Requirement {
  /** Text for messages: `package "b" in range ">=1.0.0"`. */
  readonly text: string;
  /** A bundle that meets it provides at least one of these; undefined if any bundle may meet it. */
  readonly providers: ReadonlySet<string> | undefined;
  readonly verdict: (bundle: BundleOutline) => Verdict;
}

/** Reads requirements from properties; equal properties share one requirement. */
export class Requirements {
  readonly #known = new Map<string, Requirement>();

  /** Undefined for a property that requires nothing. */
  of({ type, value }: Property): Requirement | undefined {
    const read = readers[type];
    if (read === undefined) return undefined;
    const key = `${type} ${jsonText(value ?? null)}`;
    const requirement = this.#known.get(key) ?? read(isMap(value) ? value : {});
    this.#known.set(key, requirement);
    return requirement;
  }
}

type Reader = (value: JsonObject) => Requirement;

const readers: Readonly<Record<string, Reader | undefined>> = Object.assign(Object.create(null), {
  'olm.package.required': packageRequirement,
  'olm.gvk.required': apiRequirement,
  'olm.label.required': labelRequirement,
  'olm.constraint': constraint,
} satisfies Record<string, Reader>);

function packageRequirement(value: JsonObject): Requirement {
  const [name, written] = [textAt(value, 'packageName'), textAt(value, 'versionRange')];
  // An invalid range stops a resolver: in doubt, any version may meet it.
  const range = rangeProblem(written) === undefined ? parseRange(written) : undefined;
  const provider = `package/${name}`;
  return {
    text: `package "${name}" in range "${written}"`,
    providers: new Set([provider]),
    verdict: ({ provides, version }) => {
      if (!provides.has(provider)) return false;
      if (range === undefined) return undefined;
      return version !== undefined && isInRange(version, range);
    },
  };
}

function apiRequirement(value: JsonObject): Requirement {
  const [group, version, kind] = ['group', 'version', 'kind'].map((name) => textAt(value, name));
  return provision(`gvk/${group}/${version}/${kind}`, `API ${group}/${version} ${kind}`);
}

function labelRequirement(value: JsonObject): Requirement {
  const label = textAt(value, 'label');
  return provision(`label/${label}`, `label "${label}"`);
}

function provision(provider: string, text: string): Requirement {
  return {
    text,
    providers: new Set([provider]),
    verdict: ({ provides }) => provides.has(provider),
  };
}

/**
 * An `olm.constraint`: one bundle must meet all of it. Of several members, only the first in the
 * order of `constraints` counts.
 */
function constraint(value: JsonObject): Requirement {
  for (const [name, read] of constraints) {
    const member = memberOf(value, name);
    if (isMap(member)) return read(member);
  }
  return undecided('a constraint that is empty or unknown');
}

const constraints: readonly (readonly [string, Reader])[] = [
  ['gvk', apiRequirement],
  ['package', packageRequirement],
  ['all', (value) => allOf(partsOf(value))],
  ['any', (value) => anyOf(partsOf(value))],
  ['not', (value) => noneOf(partsOf(value))],
  ['cel', (value) => undecided(`CEL ${textAt(value, 'rule')}`)],
];

function partsOf(value: JsonObject): readonly Requirement[] {
  return listOf(memberOf(value, 'constraints')).map((part) => constraint(isMap(part) ? part : {}));
}

function allOf(parts: readonly Requirement[]): Requirement {
  return {
    text: joined(parts, ' and '),
    providers: parts.find(({ providers }) => providers !== undefined)?.providers,
    verdict: (bundle) => {
      const verdicts = parts.map(({ verdict }) => verdict(bundle));
      if (verdicts.includes(false)) return false;
      return verdicts.includes(undefined) ? undefined : true;
    },
  };
}

function anyOf(parts: readonly Requirement[]): Requirement {
  const isLimited = parts.every(({ providers }) => providers !== undefined);
  return {
    text: joined(parts, ' or '),
    providers: isLimited
      ? new Set(parts.flatMap(({ providers }) => [...(providers ?? [])]))
      : undefined,
    verdict: (bundle) => {
      const verdicts = parts.map(({ verdict }) => verdict(bundle));
      if (verdicts.includes(true)) return true;
      return verdicts.includes(undefined) ? undefined : false;
    },
  };
}

function noneOf(parts: readonly Requirement[]): Requirement {
  const { text, verdict } = anyOf(parts);
  return {
    text: `not ${text}`,
    providers: undefined,
    verdict: (bundle) => {
      const found = verdict(bundle);
      return found === undefined ? undefined : !found;
    },
  };
}

/** A requirement that pruning cannot evaluate: any bundle may meet it. */
function undecided(text: string): Requirement {
  return { text, providers: undefined, verdict: () => undefined };
}

function joined(parts: readonly Requirement[], separator: string): string {
  return `(${parts.map(({ text }) => text).join(separator)})`;
}
