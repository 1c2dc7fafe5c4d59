import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type JsonObject, type JsonValue, parseJson, stringifyJson } from '../../api/json.ts';
import { toYaml } from '../../core/manifests/index.ts';
import { installModes } from './install-modes.ts';
import { operatorFiles } from './operator-bundle.ts';
import { aTree } from './registry-bundle.ts';
import {
  allNamespacesNeeded,
  bothRefusals,
  expectedOf,
  goneDefinitions,
  type Outcomes,
  type TestedBundle,
} from './tested-bundle.ts';
import { webhookOperatorFiles } from './webhook-operator/bundle.ts';

type Files = Readonly<Record<string, string>>;

const annotations = `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.channels.v1: stable
`;

/** The same bundle with what catalogs ask for, in the block style of YAML that people write. */
function published(files: Files): Files {
  const texts = Object.entries(files).map(([path, text]) => {
    if (path === 'metadata/annotations.yaml') {
      return [path, text.replace('annotations:\n', annotations)];
    }
    return [path, text.startsWith('{') ? toYaml([completed(parseJson(text))]) : text];
  });
  return Object.fromEntries(texts);
}

interface CsvSpec extends JsonObject {
  readonly customresourcedefinitions?: { readonly owned?: readonly KindDescription[] };
}

function completed(manifest: JsonValue): JsonObject {
  const { metadata, spec, ...object } = manifest as JsonObject;
  if (object['kind'] !== 'ClusterServiceVersion') return manifest as JsonObject;
  const { owned = [] } = (spec as CsvSpec).customresourcedefinitions ?? {};
  const examples = { 'alm-examples': stringifyJson(owned.map(exampleOf)) };
  const asked = { version: '1.0.0', provider: { name: 'RukPak' }, minKubeVersion: '1.25.0' };
  return {
    ...object,
    metadata: { ...(metadata as JsonObject), annotations: examples },
    spec: { ...asked, ...(spec as JsonObject) },
  };
}

function exampleOf({ name, version, kind }: KindDescription): object {
  const group = name.slice(name.indexOf('.') + 1);
  const metadata = { name: 'example' };
  return { apiVersion: `${group}/${version}`, kind, metadata, spec: { size: 1 } };
}

/** An entry of spec.customresourcedefinitions. */
type KindDescription = Readonly<
  Record<'name' | 'version' | 'kind' | 'displayName' | 'description', string>
>;

function described(name: string, kind: string): KindDescription {
  return { name, version: 'v1', kind, displayName: kind, description: `A ${kind}.` };
}

const operator: Files = {
  ...operatorFiles({
    name: 'small-operator',
    modes: installModes,
    spec: {
      customresourcedefinitions: { owned: [described('things.small.example.com', 'Thing')] },
    },
  }),
  'manifests/things.crd.yaml': `# Written by hand, as kubebuilder would: comments, folded text, quotes.
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.small.example.com
  annotations: {controller-gen.kubebuilder.io/version: v0.14.0}
spec:
  group: small.example.com
  scope: Namespaced
  names:
    kind: Thing
    listKind: ThingList
    plural: things
    singular: thing
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    schema:
      openAPIV3Schema:
        description: >-
          A Thing has a size and a mode. The operator makes
          a ConfigMap of each.
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size:
                type: integer
                minimum: 1
              mode:
                description: |
                  One of:
                    "on": it is watched
                    "off": it is not
                type: string
                default: "on"
                enum: ["on", 'off']
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
`,
};

/** Its ServiceAccount and first Role have the names that conversion gives to those of the CSV. */
const owner: Files = {
  ...operatorFiles({ name: 'small-owner', modes: ['OwnNamespace'] }),
  'manifests/account.yaml': `apiVersion: v1
kind: ServiceAccount
metadata:
  name: small-owner
  annotations:
    example.com/purpose: "yes"
`,
  'manifests/role.yaml': `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: small-owner.v1.0.0--lxxx86mrnsa4p1eb8rgsqbn60t3f3vr302aqeqdwfr4
rules:
- apiGroups: [""]
  resources: [configmaps, secrets]
  verbs: [get, list, watch]
`,
  'manifests/leases.yaml': `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: small-owner-leases
rules:
- apiGroups:
  - coordination.k8s.io
  resources:
  - leases
  verbs: ["*"]
`,
  'manifests/leases-binding.yaml': `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: small-owner-leases
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: small-owner-leases
subjects:
- kind: ServiceAccount
  name: small-owner
`,
  'manifests/settings.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: small-owner-settings
data:
  settings.ini: |
    [watch]
    interval = 30s

    [log] # as the operator reads it
    level = "info"
  "on": 'yes'
  mode: "0644"
`,
};

function formerDefinition(kind: string, plural: string): string {
  return `apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata:
  name: ${plural}.former.example.com
spec:
  group: former.example.com
  version: v1
  names:
    kind: ${kind}
    listKind: ${kind}List
    plural: ${plural}
    singular: ${kind.toLowerCase()}
  scope: Namespaced
  subresources:
    status: {}
`;
}

const former: Files = {
  ...operatorFiles({
    name: 'small-former',
    modes: ['OwnNamespace', 'SingleNamespace'],
    spec: {
      minKubeVersion: '1.16.0',
      customresourcedefinitions: {
        owned: [
          described('relics.former.example.com', 'Relic'),
          described('urns.former.example.com', 'Urn'),
        ],
      },
    },
  }),
  'manifests/relics.crd.yaml': formerDefinition('Relic', 'relics'),
  'manifests/urns.crd.yaml': formerDefinition('Urn', 'urns'),
};

const formerRefusal = goneDefinitions(2, ['relics.former.example.com', 'urns.former.example.com']);

const dependent: Files = operatorFiles({
  name: 'small-dependent',
  modes: ['AllNamespaces', 'OwnNamespace'],
  spec: {
    customresourcedefinitions: { required: [described('bricks.other.example.com', 'Brick')] },
  },
});

// Without an aggregated API: while no pod serves one, namespaces of other tests cannot be deleted.
const webhooks: Files = webhookOperatorFiles({
  name: 'small-webhooks',
  parts: ['validating', 'mutating', 'conversion'],
});

interface SmallBundle {
  readonly files: Files;
  readonly outcomes: Outcomes;
  readonly required?: readonly string[];
}

/** Counted by hand from their files and docs/howto/operators.md, as those of real bundles. */
const bundles: Readonly<Record<string, SmallBundle>> = {
  // ServiceAccount, 2 roles, 2 bindings, CRD and Deployment; the Namespace without a spec.config; a
  // Role and a RoleBinding more for each other namespace that is watched.
  'small-operator/1.0.0': { files: operator, outcomes: { without: 8, A: 7, O: 7, S: 9, M: 11 } },
  // ServiceAccount, 3 roles, 3 bindings, ConfigMap and Deployment.
  'small-owner/1.0.0': { files: owner, outcomes: { without: allNamespacesNeeded, O: 9 } },
  'small-former/1.0.0': {
    files: former,
    outcomes: {
      without: bothRefusals(allNamespacesNeeded, formerRefusal),
      O: formerRefusal,
      S: formerRefusal,
    },
  },
  // ServiceAccount, 2 roles, 2 bindings and Deployment, and the Namespace.
  'small-dependent/1.0.0': {
    files: dependent,
    outcomes: { without: 7, A: 6, O: 6 },
    required: ['other.example.com/v1/Brick'],
  },
  // The same as small-operator, a Service and 2 webhook configurations.
  'small-webhooks/1.0.0': { files: webhooks, outcomes: { without: 11, A: 10 } },
};

/** Bundles of the project's own for tests over bundles, which run where no real ones are. */
export const smallBundles: readonly TestedBundle[] = Object.entries(bundles).map(
  ([name, { files, outcomes, required = [] }]) => ({
    name,
    ...expectedOf(outcomes),
    required,
    foreign: [],
    content: () => aTree(published(files)),
    directory: (folder) => written(published(files), join(folder, name)),
  }),
);

function written(files: Files, directory: string): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return directory;
}
