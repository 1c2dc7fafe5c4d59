import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { ApiError, type KubeClient, type ObjectKey } from '../../platform/kube/index.ts';
import type { RawRequest } from '../../platform/kube/kube-client.ts';
import { OpenAPIDocuments } from './openapi-documents.ts';

const { signal } = new AbortController();
const gvk = { group: 'example.com', version: 'v1', kind: 'Gadget' };
const gadget = { ...gvk, plural: 'gadgets', namespaced: true };
const path = 'apis/example.com/v1';
const schemas = {
  Gadget: {
    type: 'object',
    properties: { metadata: { $ref: '#/components/schemas/ObjectMeta' }, spec: { type: 'object' } },
    'x-kubernetes-group-version-kind': [gvk],
  },
};

/** Publishes the kind's group from that request of the index on. */
class Server {
  readonly requests: string[] = [];
  publishedAt = 1;
  /** The schema in the kind's CRD; undefined without a CRD. */
  declared: object | undefined;
  error = new ApiError(404, { reason: 'NotFound' });
  #looks = 0;

  readonly client = {
    get: async (_: unknown, { name }: ObjectKey): Promise<KubernetesObject> => {
      if (name !== 'gadgets.example.com' || this.declared === undefined) throw this.error;
      const versions = [{ name: 'v1', schema: { openAPIV3Schema: this.declared } }];
      return { apiVersion: 'x', kind: 'y', metadata: { name }, spec: { versions } };
    },
    request: async ({ path: asked }: RawRequest) => {
      this.requests.push(asked);
      if (asked !== '/openapi/v3') return { components: { schemas } };
      this.#looks += 1;
      const paths = { [path]: { serverRelativeURL: `/openapi/v3/${path}?hash=1` } };
      return JSON.stringify({ paths: this.#looks < this.publishedAt ? {} : paths });
    },
  } as Pick<KubeClient, 'get' | 'request'> as KubeClient;
}

test('a document is fetched once, and again when kinds have changed', async () => {
  const server = new Server();
  const documents = new OpenAPIDocuments(server.client);
  expect((await documents.schemaOf(gadget, signal))?.schema).toEqual(schemas.Gadget);
  await documents.schemaOf(gadget, signal);
  expect(server.requests).toEqual(['/openapi/v3', `/openapi/v3/${path}`]);
  documents.invalidate();
  await documents.schemaOf(gadget, signal);
  expect(server.requests).toHaveLength(4);
});

test('a kind that was not published yet is asked for again', async () => {
  const server = new Server();
  server.publishedAt = 3;
  const documents = new OpenAPIDocuments(server.client);
  expect(await documents.schemaOf(gadget, signal)).toBeUndefined();
  expect(await documents.schemaOf(gadget, signal)).toBeUndefined();
  expect(await documents.schemaOf(gadget, signal)).toBeDefined();
});

test('the schema of a custom resource is that of its CRD, which may be newer', async () => {
  const server = new Server();
  const documents = new OpenAPIDocuments(server.client);
  const { metadata } = schemas.Gadget.properties;
  for (const field of ['size', 'colour']) {
    const spec = { type: 'object', properties: { [field]: { type: 'string' } } };
    server.declared = { type: 'object', properties: { spec } };
    expect(await documents.schemaOf(gadget, signal)).toEqual({
      schema: { type: 'object', properties: { spec, metadata } },
      components: schemas,
    });
  }
});

test('where core may not read the CRD, the published schema counts', async () => {
  const server = new Server();
  server.error = new ApiError(403, { reason: 'Forbidden' });
  const documents = new OpenAPIDocuments(server.client);
  expect((await documents.schemaOf(gadget, signal))?.schema).toEqual(schemas.Gadget);
});
