import { expect, test } from 'vitest';
import type { KubeClient } from '../../platform/kube/index.ts';
import type { RawRequest } from '../../platform/kube/kube-client.ts';
import { OpenAPIDocuments } from './openapi-documents.ts';

const { signal } = new AbortController();
const gadget = { group: 'example.com', version: 'v1', kind: 'Gadget' };
const path = 'apis/example.com/v1';
const schemas = {
  Gadget: { type: 'object', 'x-kubernetes-group-version-kind': [gadget] },
};

/** Publishes the kind's group from that request of the index on. */
class Server {
  readonly requests: string[] = [];
  publishedAt = 1;
  #looks = 0;

  readonly client = {
    request: async ({ path: asked }: RawRequest) => {
      this.requests.push(asked);
      if (asked !== '/openapi/v3') return { components: { schemas } };
      this.#looks += 1;
      const paths = { [path]: { serverRelativeURL: `/openapi/v3/${path}?hash=1` } };
      return JSON.stringify({ paths: this.#looks < this.publishedAt ? {} : paths });
    },
  } as Pick<KubeClient, 'request'> as KubeClient;
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
