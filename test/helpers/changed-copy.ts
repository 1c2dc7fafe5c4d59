import { type JsonObject, parseYaml, stringifyJson } from '../../core/sdk.ts';
import { aConfigMap } from './objects.ts';

export type Files = Readonly<Record<string, Uint8Array | string>>;

/** The same bundle with one object more, of that name, and a change to every deployment of a CSV. */
export function changedCopy(files: Files, added: string): Files {
  const changed = Object.entries(files).map(([path, content]) => [path, withChange(content)]);
  return {
    ...Object.fromEntries(changed),
    [`manifests/${added}.yaml`]: stringifyJson(aConfigMap(added)),
  };
}

function withChange(content: Uint8Array | string): Uint8Array | string {
  const text = Buffer.from(content).toString('utf8');
  if (!/^kind: ['"]?ClusterServiceVersion/m.test(text)) return content;
  const csv = parseYaml(text) as JsonObject;
  for (const deployment of deploymentsOf(csv)) {
    const { template } = deployment.spec;
    const { annotations } = (template.metadata ??= {});
    template.metadata.annotations = { ...annotations, 'example.com/changed': 'yes' };
  }
  return stringifyJson(csv);
}

interface PodTemplate {
  metadata?: { annotations?: Record<string, string> };
}

interface DeploymentOfCsv {
  readonly spec: { readonly template: PodTemplate };
}

function deploymentsOf(csv: JsonObject): readonly DeploymentOfCsv[] {
  const { spec } = csv as unknown as {
    readonly spec: {
      readonly install?: { readonly spec?: { readonly deployments?: readonly DeploymentOfCsv[] } };
    };
  };
  return spec.install?.spec?.deployments ?? [];
}
