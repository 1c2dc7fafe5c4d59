import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { HelmCommand } from '../../helpers/helm/helm-command.ts';

export interface BenchChart {
  readonly name: string;
  /** For Helm's command. */
  readonly folder: string;
}

/** What `helm create` makes, and one whose named templates make many objects. */
export async function benchCharts(helm: HelmCommand, apps: number): Promise<readonly BenchChart[]> {
  await helm.run(['create', 'created']);
  return [
    { name: 'helm create', folder: await helm.write('created', new Map()) },
    { name: `${apps} apps`, folder: await helm.write('many', manyApps(apps)) },
  ];
}

/** The files of a chart's folder, as the engine is given them. */
export async function chartFiles(folder: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(relative(folder, path), await readFile(path));
  }
  return files;
}

/** Three objects each, with labels by include, values by tpl and toYaml. */
function manyApps(count: number): ReadonlyMap<string, string> {
  const app = { image: '{{ .Release.Name }}/web:1', env: { A: '1', B: '{{ .Chart.Name }}' } };
  const apps = Object.fromEntries(Array.from({ length: count }, (_, i) => [`app-${i}`, app]));
  return new Map([
    ['Chart.yaml', '{apiVersion: v2, name: many, version: 1.0.0}'],
    ['values.yaml', JSON.stringify({ apps })],
    ['templates/_labels.tpl', labels],
    ['templates/apps.yaml', objects],
  ]);
}

const labels = `{{- define "labels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .top.Release.Name | quote }}
helm.sh/chart: {{ printf "%s-%s" .top.Chart.Name .top.Chart.Version | replace "+" "_" | trunc 63 }}
{{- end }}
`;

const objects = `{{- range $name, $app := .Values.apps }}
{{- $scope := dict "top" $ "name" $name }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels: {{- include "labels" $scope | nindent 4 }}
spec:
  selector:
    matchLabels: {{- include "labels" $scope | nindent 6 }}
  template:
    metadata:
      labels: {{- include "labels" $scope | nindent 8 }}
    spec:
      containers:
        - name: main
          image: {{ tpl $app.image $ | quote }}
          env:
          {{- range $key, $value := $app.env }}
            - {name: {{ $key }}, value: {{ tpl $value $ | quote }}}
          {{- end }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  labels: {{- include "labels" $scope | nindent 4 }}
spec:
  ports: [{port: 80}]
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $name }}
data:
  app: | {{- toYaml $app | nindent 4 }}
{{- end }}
`;
