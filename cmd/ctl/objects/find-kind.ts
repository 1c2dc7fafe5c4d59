import { z } from 'zod';
import { TerminalError } from '../../../core/errors.ts';
import {
  aggregatedDiscovery,
  type KubeClient,
  type Resource,
} from '../../../core/platform/kube/index.ts';

const listSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string().optional() }).optional(),
      versions: z.array(
        z.object({
          version: z.string(),
          resources: z
            .array(
              z.object({
                resource: z.string(),
                singularResource: z.string().optional(),
                shortNames: z.array(z.string()).optional(),
                responseKind: z.object({ kind: z.string() }).optional(),
                scope: z.string().optional(),
              }),
            )
            .optional(),
        }),
      ),
    }),
  ),
});

/**
 * The kind that a person means by `pod`, `deploy`, `Deployment`, `deployments.apps` or
 * `deployments.v1.apps`, as kubectl takes it: the first of the API server's order.
 * @throws TerminalError where the cluster serves none.
 */
export async function kindNamed(
  client: Pick<KubeClient, 'request'>,
  word: string,
  signal: AbortSignal,
): Promise<Resource> {
  const [name = '', ...suffix] = word.toLowerCase().split('.');
  const place = suffix.join('.');
  for (const path of ['/api', '/apis']) {
    const answer = await client.request({
      method: 'GET',
      path,
      accept: aggregatedDiscovery,
      signal,
    });
    const found = resourcesIn(answer).find(
      ({ resource, names }) =>
        names.includes(name) &&
        ['', resource.group, `${resource.version}.${resource.group}`].includes(place),
    );
    if (found !== undefined) return found.resource;
  }
  throw new TerminalError(
    `the cluster serves no kind "${word}": kubectl api-resources lists those that it serves`,
  );
}

interface NamedResource {
  readonly resource: Resource;
  readonly names: readonly string[];
}

function resourcesIn(answer: unknown): readonly NamedResource[] {
  return listSchema.parse(answer).items.flatMap(({ metadata, versions }) =>
    versions.flatMap(({ version, resources = [] }) =>
      resources.flatMap(({ resource: plural, singularResource = '', shortNames = [], ...rest }) => {
        const kind = rest.responseKind?.kind;
        if (kind === undefined) return [];
        const group = metadata?.name ?? '';
        const namespaced = rest.scope === 'Namespaced';
        return [
          {
            resource: { group, version, kind, plural, namespaced },
            names: [plural, singularResource, kind.toLowerCase(), ...shortNames],
          },
        ];
      }),
    ),
  );
}
