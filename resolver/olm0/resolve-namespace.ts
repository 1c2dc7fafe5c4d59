import { Budget, BudgetError } from '../budget.ts';
import { ChannelError } from '../candidates/index.ts';
import { solve, type Variable } from '../solver/index.ts';
import { catalogEntries } from './entries/catalog-entries.ts';
import { compareText, type Entry, isReadable, ResolutionError } from './entries/entry.ts';
import { EntryIndex } from './entries/entry-index.ts';
import { installedCatalog, installedEntries } from './entries/installed-entries.ts';
import { explainConflicts, explainError } from './explanation/explanation.ts';
import type { CatalogContent, NamespaceRequest } from './namespace-request.ts';
import type { NamespaceResolution } from './namespace-resolution.ts';
import { plan } from './plan.ts';
import { type BundleVariable, BundleVariables } from './problem/bundle-variables.ts';
import { invariants } from './problem/invariants.ts';
import { subscriptionVariable } from './problem/subscription-variables.ts';

export interface NamespaceResolutionOptions {
  /** What the resolution may take (default: `resolutionSteps`, and expressions). */
  readonly budget?: Budget;
}

/**
 * Resolves a namespace as OLM v0 does: what its Subscriptions ask for, one step of an upgrade at a time,
 * with what that requires.
 */
export function resolveNamespace(
  request: NamespaceRequest,
  { budget = new Budget() }: NamespaceResolutionOptions = {},
): NamespaceResolution {
  try {
    return resolve(request, budget);
  } catch (error) {
    const message = messageOf(error, request, budget);
    const explanation = explainError(request, message);
    return { kind: 'failed', reason: 'ErrorPreventedResolution', message, explanation };
  }
}

/** Throws other errors than those of resolution. */
function messageOf(error: unknown, { namespace }: NamespaceRequest, { limit }: Budget): string {
  if (error instanceof ResolutionError) return error.message;
  if (!(error instanceof BudgetError)) throw error;
  return `resolving namespace ${namespace} takes more than ${limit} steps: delete Subscriptions, or catalogs that have many bundles for the same requirement`;
}

function resolve(request: NamespaceRequest, budget: Budget): NamespaceResolution {
  if (request.operatorGroups !== 1)
    throw new ResolutionError([
      `expected 1 OperatorGroup in the namespace, found ${request.operatorGroups}`,
    ]);
  const entries = readEntries(request, budget);
  const { index } = entries;
  const bundles = new BundleVariables(index);
  bundles.add(index.installed);
  const subscriptions = subscriptionVariables(request, entries, bundles);
  const byId = bundles.byId;
  for (const { entry } of byId.values()) budget.take(ruleSteps * entry.properties.length);
  const rules = invariants(byId.values());
  const variables = [...byId.values(), ...subscriptions, ...rules];
  const solution = solve(distinct(variables), budget);
  if (solution.kind === 'satisfied') {
    const selected = [...byId.values()]
      .filter(({ id, entry }) => solution.selected.has(id) && entry.installed === undefined)
      .toSorted((a, b) => compareText(a.id, b.id));
    checkIds(selected);
    budget.take(selected.length * request.subscriptions.length);
    return plan(selected, request);
  }
  budget.take(solution.conflicts.length * request.subscriptions.length);
  const texts = solution.conflicts.map(({ id, constraint }) => constraint.text ?? id);
  const message = `constraints not satisfiable: ${texts.toSorted(compareText).join(', ')}`;
  const explanation = explainConflicts(request, {
    message,
    conflicts: solution.conflicts,
    bundles: byId,
    index,
  });
  return { kind: 'failed', reason: 'ConstraintsNotSatisfiable', message, explanation };
}

/** Steps of making the rules of what a bundle provides. */
const ruleSteps = 10;

interface Entries {
  readonly index: EntryIndex;
  /** Why catalogs cannot be used. */
  readonly broken: readonly string[];
}

/** A catalog that cannot be used prevents every resolution in the namespace. */
function readEntries(request: NamespaceRequest, budget: Budget): Entries {
  const { namespace, globalNamespace } = request;
  const broken: string[] = [];
  const considered = request.catalogs.filter(
    ({ catalog }) => catalog.namespace === namespace || catalog.namespace === globalNamespace,
  );
  const catalogs = new Map(
    considered.map((content) => [content.catalog, entriesOf(content, { broken, budget })]),
  );
  let installed: readonly Entry[] = [];
  try {
    installed = installedEntries(request, budget);
  } catch (error) {
    if (!(error instanceof ResolutionError)) throw error;
    broken.push(unusable(namespace, installedCatalog, error.message));
  }
  const index = new EntryIndex({ namespace, installed, catalogs }, budget);
  return { index, broken: broken.toSorted(compareText) };
}

interface Reading {
  readonly broken: string[];
  readonly budget: Budget;
}

function entriesOf(content: CatalogContent, { broken, budget }: Reading): readonly Entry[] {
  if ('packages' in content)
    return content.packages.flatMap((each) => catalogEntries(each, budget));
  const { catalog, error } = content;
  broken.push(unusable(catalog.namespace, catalog.name, error));
  return [];
}

function unusable(namespace: string, catalog: string, error: string): string {
  return `error using catalogsource ${namespace}/${catalog}: ${error}`;
}

/** @throws ResolutionError for unusable catalogs, or else for all Subscriptions that have an error */
function subscriptionVariables(
  { subscriptions }: NamespaceRequest,
  { index, broken }: Entries,
  bundles: BundleVariables,
): readonly Variable[] {
  const problems: string[] = [];
  const sorted = subscriptions.toSorted((a, b) => compareText(a.name, b.name));
  const variables = sorted.flatMap((subscription) => {
    try {
      return [subscriptionVariable(subscription, index, bundles)];
    } catch (error) {
      if (error instanceof ResolutionError) problems.push(...error.messages);
      else if (error instanceof ChannelError) problems.push(error.message);
      else throw error;
      return [];
    }
  });
  const errors = broken.length > 0 ? broken : problems;
  if (errors.length > 0) throw new ResolutionError(errors);
  return variables;
}

/** Of variables with one id the last one: a package may be called like another thing. */
function distinct(variables: readonly Variable[]): readonly Variable[] {
  return [...new Map(variables.map((variable) => [variable.id, variable])).values()];
}

/** @throws ResolutionError if the id of one of them is ambiguous */
function checkIds(selected: readonly BundleVariable[]): void {
  for (const { id, entry } of selected)
    if (!isReadable(entry))
      throw new ResolutionError([
        `error determining origin of operator: unable to parse identifier ${id} for source info`,
      ]);
}
