import type { GroupVersionKind } from '../../../api/gvk.ts';
import { type JsonObject, parseJson } from '../../../api/json.ts';
import { fieldAt, isMap, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import {
  definitionResource,
  isForbidden,
  type KubeClient,
  liveObject,
  type Resource,
} from '../../platform/kube/index.ts';

/** A kind's schema, and the components that its `$ref`s name. */
export interface ObjectSchema {
  readonly schema: JsonObject;
  readonly components: JsonObject;
}

/** The server's OpenAPI v3 documents, one per group and version, fetched at the first use. */
export class OpenAPIDocuments {
  readonly #client: KubeClient;
  readonly #components = new Map<string, JsonObject>();

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /**
   * The schema of a kind, or undefined where the server publishes none. That of a custom resource is
   * its CRD's: the server publishes a changed one some time later.
   */
  async schemaOf(resource: Resource, signal: AbortSignal): Promise<ObjectSchema | undefined> {
    const published = await this.#published(resource, signal);
    const defined = published && (await this.#defined(resource, signal));
    if (defined === undefined) return published;
    const { metadata } = mapOf(published?.schema['properties']);
    const properties = { ...mapOf(defined['properties']), metadata };
    return { schema: { ...defined, properties }, components: published?.components ?? {} };
  }

  /** Undefined for kinds without a CRD, and where core may not read it. */
  async #defined(
    { group, version, plural }: Resource,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    if (!group.includes('.')) return undefined;
    const target = { resource: definitionResource, key: { name: `${plural}.${group}` } };
    const definition = await liveObject(this.#client, target, signal).catch(unlessForbidden);
    const versions = listOf(fieldAt(definition?.['spec'], 'versions'));
    const served = versions.find((each) => stringAt(each, 'name') === version);
    const schema = fieldAt(served, 'schema', 'openAPIV3Schema');
    return isMap(schema) ? schema : undefined;
  }

  async #published(gvk: GroupVersionKind, signal: AbortSignal): Promise<ObjectSchema | undefined> {
    const path = gvk.group === '' ? `api/${gvk.version}` : `apis/${gvk.group}/${gvk.version}`;
    const known = schemaIn(this.#components.get(path) ?? {}, gvk);
    if (known !== undefined) return known;
    // The server publishes the schema a moment after it serves a new kind: fetch again when it is
    // missing.
    const components = await this.#fetch(path, signal);
    this.#components.set(path, components);
    return schemaIn(components, gvk);
  }

  /** Fetches again at the next use, because CRDs changed. */
  invalidate(): void {
    this.#components.clear();
  }

  async #fetch(path: string, signal: AbortSignal): Promise<JsonObject> {
    const index = await this.#get('/openapi/v3', signal);
    const url = stringAt(index, 'paths', path, 'serverRelativeURL');
    if (url === undefined) return {};
    // Without the hash in the query: a stale hash redirects.
    const [document = url] = url.split('?');
    return mapOf(fieldAt(await this.#get(document, signal), 'components', 'schemas'));
  }

  async #get(path: string, signal: AbortSignal): Promise<unknown> {
    const answer = await this.#client.request({
      method: 'GET',
      path,
      accept: 'application/json',
      signal,
    });
    // The index is JSON with the content type of plain text.
    return typeof answer === 'string' ? parseJson(answer) : answer;
  }
}

function unlessForbidden(error: unknown): undefined {
  if (!isForbidden(error)) throw error;
}

function schemaIn(components: JsonObject, gvk: GroupVersionKind): ObjectSchema | undefined {
  const schema = Object.values(components).find((candidate) => describes(candidate, gvk));
  return schema === undefined ? undefined : { schema: mapOf(schema), components };
}

function describes(schema: unknown, gvk: GroupVersionKind): boolean {
  return listOf(fieldAt(schema, 'x-kubernetes-group-version-kind')).some(
    (described) =>
      stringAt(described, 'group') === gvk.group &&
      stringAt(described, 'version') === gvk.version &&
      stringAt(described, 'kind') === gvk.kind,
  );
}
