import { z } from 'zod';
import type { KubernetesObject } from '../../api/meta.ts';
import {
  type DeletionPolicy,
  deletionPolicySchema,
} from '../../api/v1alpha1/deployment-policies.ts';
import { finalizer, label } from '../../api/v1alpha1/labels.ts';
import { keepAnnotation } from '../../api/v1alpha1/rules/kept-object.ts';
import { errorMessage } from '../../core/errors.ts';
import {
  definitionResource,
  type KubeClient,
  type Resource,
} from '../../core/platform/kube/index.ts';
import {
  type CustomResourceDefinition,
  firstPage,
  type ObjectPage,
  parseCrd,
} from '../crd-upgrade/custom-resources.ts';
import { type AdmissionRequest, type AdmissionValidator, allowed } from '../review.ts';

interface ListOptions {
  readonly labelSelector?: string;
  readonly metadataOnly: true;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface DeletionWarningOptions {
  readonly client: Pick<KubeClient, 'get'> & {
    list(resource: Resource, options: ListOptions): Promise<ObjectPage>;
  };
  /** Core's default for deployments without spec.deletionPolicy. */
  readonly defaultDeletionPolicy: DeletionPolicy;
}

/** Maximum number of CRDs to check per deployment. */
const maxDefinitions = 50;
/** Maximum number of custom resources to count per kind. */
const maxResources = 500;
/** Maximum number of warnings: the API server shows 4096 characters in total. */
const maxWarnings = 10;

const deploymentSchema = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string().optional(),
    finalizers: z.array(z.string()).optional(),
  }),
  spec: z.object({ deletionPolicy: deletionPolicySchema.optional() }),
  status: z.object({ activeBundle: z.string().optional() }).optional(),
});

interface Deployment extends z.infer<typeof deploymentSchema> {}

/**
 * The validator behind `deletions.crdvalidator.io`: allows every deletion of a BundleDeployment,
 * and warns of the custom resources that are deleted with its CRDs.
 */
export function deletionWarner(options: DeletionWarningOptions): AdmissionValidator {
  return async (request, signal) => {
    const deployment = deletedDeployment(request, options);
    if (deployment === undefined) return allowed;
    const { name } = deployment.metadata;
    const losses: string[] = [];
    try {
      for await (const loss of lossesOf(deployment, options, signal)) losses.push(loss);
    } catch (error) {
      const cause = errorMessage(error);
      const what = `the webhook cannot count all custom resources that go with BundleDeployment ${name}: ${cause}`;
      return { ...allowed, warnings: [...warningsOf(name, losses), what] };
    }
    return losses.length === 0 ? allowed : { ...allowed, warnings: warningsOf(name, losses) };
  };
}

/** Undefined when no CRD is deleted, or when that is unknown. */
function deletedDeployment(
  { operation, subResource, oldObject, options: asked }: AdmissionRequest,
  { defaultDeletionPolicy }: DeletionWarningOptions,
): Deployment | undefined {
  if (operation !== 'DELETE' || subResource) return undefined;
  if (asked?.propagationPolicy === 'Orphan') return undefined;
  const deployment = deploymentSchema.safeParse(oldObject).data;
  if (deployment === undefined || !mayHaveObjects(deployment)) return undefined;
  const { deletionPolicy = defaultDeletionPolicy } = deployment.spec;
  return deletionPolicy === 'Delete' ? deployment : undefined;
}

/**
 * Core adds its finalizer before the first object. The review of a deployment without it must be
 * short: the API server has already decided to delete it at once, even if core adds the finalizer
 * meanwhile.
 */
function mayHaveObjects({ metadata, status }: Deployment): boolean {
  const isGuarded = metadata.finalizers?.includes(finalizer.deleteObjects) === true;
  return isGuarded || (status?.activeBundle ?? '') !== '';
}

function warningsOf(name: string, losses: readonly string[]): readonly string[] {
  const shown = losses
    .slice(0, maxWarnings)
    .map((loss) => `Deleting BundleDeployment ${name} deletes ${loss}`);
  const more = losses.length - shown.length;
  return more > 0
    ? [...shown, `${more} more CRDs of BundleDeployment ${name} have custom resources`]
    : shown;
}

/** One text for each CRD with custom resources, and one when there are too many CRDs to check. */
async function* lossesOf(
  deployment: Deployment,
  { client }: DeletionWarningOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { name } = deployment.metadata;
  const labelSelector = `${label.ownerKind}=BundleDeployment,${label.ownerName}=${name}`;
  const query = { labelSelector, metadataOnly: true, limit: maxDefinitions, signal } as const;
  const { items, metadata } = await client.list(definitionResource, query);
  const list = (resource: Resource) =>
    client.list(resource, { metadataOnly: true, limit: maxResources, signal });
  for (const item of items) {
    const key = { name: item.metadata.name ?? '' };
    const crd = parseCrd(await client.get(definitionResource, key, signal));
    if (stays(crd)) continue;
    const loss = lossOf(name, crd, await firstPage(crd, list));
    if (loss !== undefined) yield loss;
  }
  if (metadata.continue) yield `more than ${maxDefinitions} CRDs, of which not all are counted`;
}

function stays(crd: CustomResourceDefinition): boolean {
  return isKept(crd) || crd.metadata.deletionTimestamp !== undefined;
}

function isKept({
  metadata,
}: Pick<CustomResourceDefinition | KubernetesObject, 'metadata'>): boolean {
  return keepAnnotation(metadata.annotations) !== undefined;
}

function lossOf(
  deployment: string,
  { metadata, spec }: CustomResourceDefinition,
  page: ObjectPage | undefined,
): string | undefined {
  // Core keeps a CRD whose custom resources nobody can see.
  if (page === undefined) return undefined;
  const count = page.items.length;
  // Core keeps the CRD of a kept custom resource that is not being deleted.
  const lasting = page.items.filter((item) => item.metadata.deletionTimestamp === undefined);
  if (count === 0 || lasting.some(isKept)) return undefined;
  const isCut = Boolean(page.metadata.continue);
  const many = isCut ? `more than ${count}` : String(count);
  const resources = `${many} ${count === 1 && !isCut ? spec.names.kind : pluralOf(spec.names)}`;
  const [other] = lasting.flatMap((item) => otherOwner(item, deployment) ?? []);
  // Of a deployment that the same command deletes, core keeps nothing.
  const unless =
    other === undefined ? '' : `, unless BundleDeployment ${other} stays, which has some of them`;
  return `CRD ${metadata.name} and ${resources}${placesOf(page.items, isCut)}${unless}`;
}

/** The other deployment that a custom resource belongs to. */
function otherOwner({ metadata: { labels = {} } }: KubernetesObject, deployment: string) {
  const { [label.ownerKind]: kind, [label.ownerName]: name } = labels;
  return kind === 'BundleDeployment' && name !== deployment ? name : undefined;
}

/** With the capitals of the kind, if the plural only adds letters: PaintPots of PaintPot. */
function pluralOf({ kind, plural }: CustomResourceDefinition['spec']['names']): string {
  return plural.startsWith(kind.toLowerCase()) ? kind + plural.slice(kind.length) : plural;
}

function placesOf(items: readonly KubernetesObject[], isCut: boolean): string {
  const places = new Set(items.flatMap(({ metadata }) => metadata.namespace ?? []));
  if (places.size === 0) return '';
  const least = isCut ? 'at least ' : '';
  return ` in ${least}${places.size} namespace${places.size === 1 ? '' : 's'}`;
}
