import { access, others, roles, service, settings, web, workloads } from './sample-files.ts';

export interface KustomizeTree {
  readonly files: Readonly<Record<string, string | Buffer>>;
  /** The folder to build (default: the root). */
  readonly path?: string;
}

const all = {
  'web.yaml': web,
  'settings.yaml': settings,
  'service.yaml': service,
  'access.yaml': access,
  'roles.yaml': roles,
  'others.yaml': others,
  'workloads.yaml': workloads,
};

const resources = `resources: [${Object.keys(all).join(', ')}]\n`;

function withAll(kustomization: string): KustomizeTree {
  return { files: { ...all, 'kustomization.yaml': `${resources}${kustomization}` } };
}

function ofObjects(kustomization: string, manifests: string): KustomizeTree {
  const text = `resources: [all.yaml]\n${kustomization}`;
  return { files: { 'kustomization.yaml': text, 'all.yaml': manifests } };
}

function patching(patch: string, target = ''): KustomizeTree {
  const text = patch.replaceAll(/^/gm, '      ');
  return withAll(`patches:\n  - patch: |\n${text}\n${target}`);
}

const ofWeb = '    target: {kind: Deployment, name: web}\n';

/** What the class and kustomize are to make the same objects of. */
export const kustomizeTrees: Readonly<Record<string, KustomizeTree>> = {
  'files alone': withAll(''),
  'a namespace': withAll('namespace: prod\n'),
  'a prefix': withAll('namePrefix: blue-\n'),
  'a suffix and a namespace': withAll('nameSuffix: -v2\nnamespace: prod\n'),
  'common labels': withAll('commonLabels: {team: a, app.kubernetes.io/part-of: shop}\n'),
  'labels of objects alone': withAll('labels:\n  - pairs: {team: a, app: other}\n'),
  'labels of templates': withAll('labels:\n  - pairs: {team: a}\n    includeTemplates: true\n'),
  'labels of selectors': withAll(
    'labels:\n  - pairs: {team: a}\n    includeSelectors: true\n  - pairs: {cost: "1"}\n',
  ),
  annotations: withAll('commonAnnotations: {note: "one: two", other: "<&>"}\n'),
  'image names, tags and digests': withAll(`images:
  - {name: example.com/web, newTag: v2}
  - {name: "registry.example.com:5000/tools/init", newName: example.com/init}
  - {name: web, newName: "mirror.example.com:5000/web", digest: "sha256:${'1'.repeat(64)}"}
`),
  'an image by tag and digest': withAll(
    `images:\n  - {name: web, newTag: v3, digest: "sha256:${'2'.repeat(64)}"}\n  - {name: example.com/web}\n`,
  ),
  replicas: withAll('replicas:\n  - {name: web, count: 3}\n  - {name: statefulset, count: 0}\n'),
  'ConfigMaps from literals': withAll(`configMapGenerator:
  - name: made
    literals: [a=1, "b='quoted'", 'c="double"', "d=x=y", "e=<&>", "b10=ten", "b9=nine", "f="]
  - name: empty
  - name: plain
    namespace: elsewhere
    literals: [a=1]
    options: {disableNameSuffixHash: true, labels: {a: b}, annotations: {c: d}, immutable: true}
`),
  'ConfigMaps from files': {
    files: {
      'kustomization.yaml':
        'configMapGenerator:\n  - name: made\n    files: [a.txt, sub/b.txt, key=a.txt, blob.bin]\n',
      'a.txt': 'one\ntwo\n\ttab "quote" \\ back\\b \u2028 \b\f é\n',
      'sub/b.txt': 'no newline',
      'blob.bin': Buffer.from(Array.from({ length: 300 }, (_, at) => (at * 7) % 256)),
    },
  },
  Secrets: {
    files: {
      'kustomization.yaml': `secretGenerator:
  - name: made
    literals: [a=1, "b=${'long '.repeat(40)}"]
    files: [blob.bin]
  - name: typed
    type: kubernetes.io/tls
    literals: [tls.crt=a, tls.key=b]
  - name: nothing
generatorOptions:
  labels: {made: by}
`,
      'blob.bin': Buffer.from([0, 255, 1, 254]),
    },
  },
  'generated objects that are referred to': {
    files: {
      'web.yaml': web,
      'roles.yaml': roles,
      'kustomization.yaml': `resources: [web.yaml, roles.yaml]
namePrefix: blue-
namespace: prod
configMapGenerator:
  - {name: settings, literals: [level=debug]}
secretGenerator:
  - {name: access, literals: [token=1]}
generatorOptions:
  annotations: {made: by}
`,
    },
  },
  'options for all generators': withAll(`configMapGenerator:
  - {name: a, literals: [x=1], options: {labels: {one: mine}}}
generatorOptions: {disableNameSuffixHash: true, immutable: true, labels: {one: all, two: all}}
`),
  'overlays of bases': {
    path: 'overlays/prod',
    files: {
      'base/kustomization.yaml': `resources: [web.yaml, settings.yaml, more]
namePrefix: base-
labels:
  - pairs: {layer: base}
`,
      'base/web.yaml': web,
      'base/settings.yaml': settings,
      'base/more/kustomization.yml': `resources: [access.yaml, service.yaml]
nameSuffix: -more
namespace: more
`,
      'base/more/access.yaml': access,
      'base/more/service.yaml': service,
      'overlays/prod/Kustomization': `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../base/, ../extra]
namespace: prod
namePrefix: prod-
commonAnnotations: {layer: prod}
replicas:
  - {name: web, count: 5}
images:
  - {name: example.com/web, newTag: prod}
patches:
  - path: patches/env.yaml
    target: {kind: Deployment, name: web}
  - patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: base-web}
      spec: {minReadySeconds: 5}
`,
      'overlays/prod/patches/env.yaml':
        '- {op: add, path: /spec/template/spec/containers/0/env/-, value: {name: X, value: "1"}}\n',
      'overlays/extra/kustomization.yaml':
        'configMapGenerator:\n  - {name: extra, literals: [a=b]}\n',
    },
  },
  'one base under two names': {
    files: {
      'kustomization.yaml': 'resources: [a, b]\nnamespace: both\n',
      'a/kustomization.yaml': 'resources: [../base]\nnameSuffix: -a\n',
      'b/kustomization.yaml': 'resources: [../base]\nnameSuffix: -b\n',
      'base/kustomization.yaml': 'resources: [service.yaml]\n',
      'base/service.yaml': service,
    },
  },
  'two variants of one base': {
    files: {
      'kustomization.yaml': 'resources: [red, blue]\nnamePrefix: all-\nnamespace: both\n',
      'red/kustomization.yaml': 'resources: [../base]\nnamePrefix: red-\nnameSuffix: -a\n',
      'blue/kustomization.yaml': 'resources: [../base]\nnamePrefix: blue-\nnameSuffix: -a\n',
      'base/kustomization.yaml': `resources: [web.yaml, access.yaml, roles.yaml]
configMapGenerator:
  - {name: settings, literals: [level=info]}
`,
      'base/web.yaml': web,
      'base/access.yaml': access,
      'base/roles.yaml': roles,
    },
  },
  'a JSON patch': patching(
    `- {op: replace, path: /spec/replicas, value: 4}
- {op: add, path: /metadata/annotations/a~1b, value: "x~y"}
- {op: remove, path: /spec/template/spec/containers/0/envFrom/0}
- {op: add, path: /spec/template/spec/containers/0/args/0, value: first}
- {op: test, path: /spec/template/spec/containers/0/name, value: main}
- {op: replace, path: /metadata/name, value: renamed}
- {op: replace, path: /spec/template/metadata/labels, value: {app: web, more: "1"}}`,
    ofWeb,
  ),
  'a JSON patch in JSON for many': patching(
    '[{"op": "add", "path": "/metadata/labels", "value": {"patched": "yes"}}]',
    '    target: {kind: "Role|RoleBinding|Service.*", name: w.b}\n',
  ),
  'a JSON patch for a group and a version': patching(
    '- {op: add, path: /metadata/annotations, value: {p: q}}',
    '    target: {group: apps, version: v1}\n',
  ),
  'a patch for nobody': patching('- {op: remove, path: /nowhere}', '    target: {name: nobody}\n'),
  'a merge patch': patching(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: null, new: label}
  annotations: {note: here}
spec:
  replicas: null
  strategy: {type: Recreate, rollingUpdate: null}
  template:
    spec:
      terminationGracePeriodSeconds: 5
      containers:
        - name: sidecar
          image: example.com/sidecar:v1
          env: [{name: A, value: "1"}]
        - name: main
          args: [serve, --debug]
          resources: {limits: {memory: 1Gi}}
          env:
            - {name: NEW, value: "1"}
            - {name: LEVEL, value: debug}
          volumeMounts:
            - {mountPath: /var/cache, name: cache}
            - {mountPath: /etc/settings, readOnly: true}
      volumes:
        - {name: cache, emptyDir: {}}`),
  'merge patches of other kinds': patching(`apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {level: null, more: "1"}
---
apiVersion: example.com/v1
kind: Gauge
metadata: {name: one}
spec: {settings: null, size: 2, deep: {er: {x: 1, gone: null}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  suspend: true
  jobTemplate: {spec: {template: {spec: {containers: [{name: main, command: [sh]}]}}}}`),
  'a merge patch for many': patching(
    'apiVersion: apps/v1\nkind: Any\nmetadata: {name: any, namespace: x}\nspec: {minReadySeconds: 7}',
    '    target: {group: apps}\n',
  ),
  'accounts of one name in two namespaces': ofObjects(
    'namePrefix: p-\n',
    `apiVersion: v1
kind: ServiceAccount
metadata: {name: sa, namespace: one}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa, namespace: two}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: binding, namespace: one}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: role}
subjects:
  - {kind: ServiceAccount, name: sa, namespace: one}
  - {kind: ServiceAccount, name: sa, namespace: two}
  - {kind: ServiceAccount, name: sa, namespace: three}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: role}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: role, namespace: one}
`,
  ),
  'kinds without a namespace, of old versions too': ofObjects(
    'namespace: prod\n',
    [
      'policy/v1beta1 PodSecurityPolicy',
      'flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema',
      'flowcontrol.apiserver.k8s.io/v1 FlowSchema',
      'rbac.authorization.k8s.io/v1beta1 ClusterRole',
      'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy',
      'networking.k8s.io/v1 IngressClass',
      'v1 PersistentVolume',
    ]
      .map((type) => type.split(' '))
      .map(([version, kind]) => `apiVersion: ${version}\nkind: ${kind}\nmetadata: {name: a}\n`)
      .join('---\n'),
  ),
  'what is empty or null': ofObjects(
    'commonLabels: {a: "true"}\n',
    `apiVersion: v1
kind: ConfigMap
metadata: {name: a, labels: null, annotations: {}}
---
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {selector: null}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
---
apiVersion: v1
kind: ConfigMapList
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: {name: b}
`,
  ),
  'a JSON patch that replaces what is missing': patching(
    '- {op: replace, path: /metadata/labels/more, value: "1"}\n- {op: test, path: /spec/none, value: null}',
    ofWeb,
  ),
};
