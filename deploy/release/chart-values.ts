import { stringify } from 'yaml';
import { z } from 'zod';
import type { KubernetesObject } from '../../api/meta.ts';

/** By Deployment, its part of the values. */
export const parts: Readonly<Record<string, string>> = {
  core: 'core',
  'rukpak-webhooks': 'webhooks',
  'crd-validation-webhook': 'crdvalidator',
  'rukpak-operators': 'operators',
};
export const operatorsPart = 'operators';

export const deploymentSchema = z.looseObject({
  spec: z.looseObject({
    replicas: z.int().default(1),
    template: z.looseObject({
      spec: z.looseObject({
        containers: z.tuple([
          z.looseObject({ image: z.string(), args: z.array(z.string()), resources: z.json() }),
        ]),
      }),
    }),
  }),
});
export type Deployment = z.infer<typeof deploymentSchema>;

export function partOf({ metadata }: KubernetesObject): string {
  const part = parts[metadata.name ?? ''];
  if (part === undefined) throw new Error(`the chart has no values for ${metadata.name}`);
  return part;
}

const valueTexts: Readonly<Record<string, string>> = {
  core: 'Reconcilers and content server; one of the replicas leads.',
  webhooks: 'Admission of Bundles, BundleDeployments and ConfigMaps.',
  crdvalidator: 'Admission of CRDs that BundleDeployments install.',
  operators: 'OLM 1.0: catalogs, Operators and ClusterExtensions, with their CRDs.',
};

export function valuesYaml(image: string, deployments: readonly KubernetesObject[]): string {
  const head = `# Image of all pods.\n${yamlOf({ image })}# Names of Secrets of the pods' namespaces, as [{name: my-registry}].\nimagePullSecrets: []\n`;
  const rest = deployments.map((deployment) => {
    const part = partOf(deployment);
    const { replicas, template } = deploymentSchema.parse(deployment).spec;
    const { resources } = template.spec.containers[0];
    const values = {
      ...(part === operatorsPart ? { enabled: false, installDependencies: false } : {}),
      replicas,
      args: [],
      resources,
      nodeSelector: {},
      tolerations: [],
    };
    const text = yamlOf({ [part]: values });
    return `# ${valueTexts[part]}\n${withComments(text)}`;
  });
  return head + rest.join('');
}

const comments: Readonly<Record<string, string>> = {
  args: 'Flags after those that the chart sets.',
  installDependencies:
    'Install what Operators require as Operators of its own, with permissions for it.',
};

function withComments(values: string): string {
  return values.replaceAll(/^ {2}(\w+):/gm, (line, value: string) =>
    Object.hasOwn(comments, value) ? `  # ${comments[value]}\n${line}` : line,
  );
}

const partSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    replicas: { type: 'integer', minimum: 0 },
    args: { type: 'array', items: { type: 'string', pattern: '^--' } },
    resources: { type: 'object' },
    nodeSelector: { type: 'object' },
    tolerations: { type: 'array', items: { type: 'object' } },
  },
};

export const valuesSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    global: { type: 'object' },
    image: { type: 'string', minLength: 1 },
    imagePullSecrets: { type: 'array', items: { type: 'object' } },
    ...Object.fromEntries(Object.values(parts).map((part) => [part, partSchema])),
    [operatorsPart]: {
      ...partSchema,
      properties: {
        enabled: { type: 'boolean' },
        installDependencies: { type: 'boolean' },
        ...partSchema.properties,
      },
    },
  },
};

export function yamlOf(value: object): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
