import { type JsonObject, type JsonValue, parseJson } from '../../../api/json.ts';
import { isMap } from '../../../api/json-fields.ts';
import type { OlmBundle } from '../../blobs/index.ts';

/**
 * The images of a bundle in a catalog, as written there, without duplicates: its own, its related
 * images, and those of an embedded ClusterServiceVersion.
 */
export function imagesOfBlob(bundle: OlmBundle): readonly string[] {
  const related = bundle.relatedImages.map(({ image }) => image);
  const manifests = bundle.properties.flatMap(({ type, value }) =>
    type === 'olm.bundle.object' ? inlined(value) : [],
  );
  return distinct([bundle.image, ...related, ...imagesOfManifests(manifests)]);
}

/** The images in the ClusterServiceVersions among a bundle's manifests, without duplicates. */
export function imagesOfManifests(manifests: readonly unknown[]): readonly string[] {
  const versions = manifests.filter(
    (manifest): manifest is JsonObject =>
      isMap(manifest) && manifest['kind'] === 'ClusterServiceVersion',
  );
  return distinct(versions.flatMap(imagesOfVersion));
}

/** The images of the pods that manifests make, without duplicates. */
export function imagesOfPods(manifests: readonly unknown[]): readonly string[] {
  return distinct(manifests.filter(isMap).flatMap(podsOf).flatMap(imagesOfPod).filter(isText));
}

/** As a Pod, CronJob, PodTemplate and all other kinds of Kubernetes have them. */
function podsOf(manifest: JsonObject): readonly (JsonValue | undefined)[] {
  const { spec } = manifest;
  const job = field(field(spec, 'jobTemplate'), 'spec');
  const templates = [manifest['template'], field(spec, 'template'), field(job, 'template')];
  return [spec, ...templates.map((template) => field(template, 'spec'))];
}

function imagesOfPod(pod: JsonValue | undefined): readonly (JsonValue | undefined)[] {
  const containers = [...maps(field(pod, 'initContainers')), ...maps(field(pod, 'containers'))];
  const volumes = maps(field(pod, 'volumes')).map(({ image }) => field(image, 'reference'));
  return [...containers.flatMap(imagesOfContainer), ...volumes];
}

/** An inlined manifest; empty if invalid, which is up to the validation of the catalog. */
function inlined(value: JsonValue | undefined): readonly JsonValue[] {
  const data = isMap(value) ? value['data'] : undefined;
  if (typeof data !== 'string') return [];
  try {
    return [parseJson(Buffer.from(data, 'base64').toString('utf8'))];
  } catch {
    return [];
  }
}

function imagesOfVersion({ spec }: JsonObject): readonly string[] {
  const related = maps(field(spec, 'relatedImages')).map(({ image }) => image);
  const deployments = maps(field(field(field(spec, 'install'), 'spec'), 'deployments'));
  return [...related, ...deployments.flatMap(podsOf).flatMap(imagesOfPod)].filter(isText);
}

/** Variables with the images that an operator deploys. */
const imageVariable = /^RELATED_IMAGE_/;

function imagesOfContainer(container: JsonObject): readonly (JsonValue | undefined)[] {
  const variables = maps(container['env']).filter(
    ({ name }) => isText(name) && imageVariable.test(name),
  );
  return [container['image'], ...variables.map(({ value }) => value)];
}

function field(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isMap(value) ? value[name] : undefined;
}

function maps(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter(isMap) : [];
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string';
}

function distinct(images: readonly string[]): readonly string[] {
  return [...new Set(images.map((image) => image.trim()))].filter((image) => image !== '');
}
