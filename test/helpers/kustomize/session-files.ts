import { service, web } from './sample-files.ts';

/** Content of the example class for a session of that name. */
export function kustomizeFiles(name: string, version: 1 | 2): Readonly<Record<string, string>> {
  const resources = version === 1 ? '[../../base, gone.yaml]' : '[../../base]';
  return {
    'base/kustomization.yaml': 'resources: [web.yaml, service.yaml]\n',
    'base/web.yaml': web,
    'base/service.yaml': service,
    'overlays/prod/gone.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n',
    'overlays/prod/kustomization.yaml': `resources: ${resources}
namePrefix: ${name}-
namespace: default
commonLabels: {session: ${name}}
configMapGenerator:
  - {name: kept, literals: [version=${version}], options: {disableNameSuffixHash: true}}
  - {name: settings, literals: [level=info-${version}]}
secretGenerator:
  - {name: access, literals: [token=1234]}
images:
  - {name: example.com/web, newTag: v${version}}
patches:
  - target: {kind: Deployment}
    patch: |
      - {op: remove, path: /spec/template/spec/serviceAccountName}
      - {op: remove, path: /spec/template/spec/volumes/3}
`,
  };
}
