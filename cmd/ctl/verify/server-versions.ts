import { z } from 'zod';
import { type KubeClient, liveObject } from '../../../core/platform/kube/index.ts';
import { crdNamespace } from './check.ts';
import { deploymentResource } from './resources.ts';

/** What one program runs as: a version of Kubernetes, an image of ours. */
export interface ProgramVersion {
  readonly program: string;
  readonly version: string;
}

const versionSchema = z.object({ gitVersion: z.string() });

const deploymentSchema = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({ containers: z.array(z.object({ image: z.string().optional() })) }),
    }),
  }),
});

/** Of the Deployments that an installation has, and of the API server. */
export async function serverVersions(
  client: Pick<KubeClient, 'get' | 'request'>,
  { systemNamespace, signal }: { readonly systemNamespace: string; readonly signal: AbortSignal },
): Promise<readonly ProgramVersion[]> {
  const places = [
    ['core', systemNamespace],
    ['rukpak-webhooks', systemNamespace],
    ['crd-validation-webhook', crdNamespace],
  ] as const;
  const versions: ProgramVersion[] = [];
  for (const [program, namespace] of places) {
    const target = { resource: deploymentResource, key: { namespace, name: program } };
    const live = await liveObject(client, target, signal);
    const version =
      live === undefined ? `no Deployment in namespace ${namespace}` : imagesOf(live).join(', ');
    versions.push({ program, version });
  }
  const answer = await client.request({ method: 'GET', path: '/version', signal });
  return [...versions, { program: 'Kubernetes', version: versionSchema.parse(answer).gitVersion }];
}

function imagesOf(live: object): readonly string[] {
  const { containers } = deploymentSchema.parse(live).spec.template.spec;
  return containers.map(({ image = 'no image' }) => image);
}
