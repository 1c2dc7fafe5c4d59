import { testOfClass } from '../../test/helpers/test-of-class.ts';
import { describeProvisioner } from '../../testing/index.ts';
import helm from './index.ts';

const chart = {
  'web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  'web/values.yaml': 'color: red\n',
  'web/templates/settings.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  color: {{ .Values.color }}
  random: {{ randAlphaNum 20 }}
  made: {{ now | date "2006-01-02" | quote }}
  id: {{ uuidv4 }}
`,
};
const { 'web/templates/settings.yaml': _, ...withoutTemplates } = chart;
const plain =
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {color: {{ .Values.color }}}\n';

describeProvisioner(
  helm,
  {
    bundles: [
      { name: 'in a folder', files: chart, stored: chart },
      {
        name: 'at the root',
        files: { 'Chart.yaml': chart['web/Chart.yaml'] },
        stored: { 'chart/Chart.yaml': chart['web/Chart.yaml'] },
      },
    ],
    deployments: [
      { name: 'of random values', files: chart, config: { values: { color: 'blue' } } },
      {
        name: 'of values from elsewhere',
        files: { ...withoutTemplates, 'web/templates/a.yaml': plain },
        config: {
          releaseNamespace: 'shop',
          crds: 'Skip',
          valuesFrom: [{ kind: 'Secret', name: 'pass' }],
        },
        inputs: { 'Secret/pass/values.yaml': 'color: green\n' },
        objects: [
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: 'a', namespace: 'shop' },
            data: { color: 'green' },
          },
        ],
      },
      {
        name: 'of lookups that find nothing',
        files: {
          ...withoutTemplates,
          'web/templates/a.yaml': plain.replace(
            '.Values.color',
            'len (lookup "v1" "Secret" "a" "b")',
          ),
        },
        config: { lookup: 'Empty' },
        objects: [
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { color: 0 } },
        ],
      },
    ],
    refused: [
      { name: 'no chart', files: { 'README.md': '' }, message: 'Chart.yaml file is missing' },
      {
        name: 'a chart that renders nothing',
        files: withoutTemplates,
        message: /^the chart renders no objects with these values: /,
      },
      {
        name: 'a slip',
        files: chart,
        config: { vaules: 'a: 1' },
        message: 'parse deployment config: spec.config.vaules is not known: did you mean values?',
      },
      {
        name: 'lookup',
        files: { ...chart, 'web/templates/b.yaml': 'a: {{ lookup "v1" "Secret" "a" "b" }}' },
        message: /lookup "v1" "Secret" "a" "b" is refused: .*with lookup: Empty in spec\.config/,
      },
    ],
  },
  { test: testOfClass, module: new URL('./index.ts', import.meta.url) },
);
