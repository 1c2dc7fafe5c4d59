/** A change of one source file of a Go module, for one build. */
export interface SourceChange {
  readonly module: string;
  /** Path in the module. */
  readonly file: string;
  /** Texts of the file and what replaces them, wherever they occur. */
  readonly replacements: readonly (readonly [text: string, replacement: string])[];
}

/**
 * Loops of Helm and its libraries that go through a map, and whose order a chart's objects show:
 * in the engine they have the order of the keys. Any order is one that Helm may have. What
 * templates call by name is replaced in provisioners/helm/engine/go/functions.go.
 */
export const inOrder: readonly SourceChange[] = [
  {
    // Of files with the same name in two folders, AsConfig and AsSecrets have the last one.
    module: 'helm.sh/helm/v4',
    file: 'pkg/engine/files.go',
    replacements: [
      ['\t"encoding/base64"\n\t"path"\n', '\t"encoding/base64"\n\t"maps"\n\t"path"\n\t"slices"\n'],
      [
        '\tfor k, v := range f {\n',
        '\tfor _, k := range slices.Sorted(maps.Keys(f)) {\n\t\tv := f[k]\n',
      ],
    ],
  },
  {
    // Subcharts may have the same name.
    module: 'helm.sh/helm/v4',
    file: 'pkg/chart/v2/loader/load.go',
    replacements: [
      ['\t"path/filepath"\n', '\t"path/filepath"\n\t"slices"\n'],
      [
        '\tfor n, files := range subcharts {\n',
        '\tfor _, n := range slices.Sorted(maps.Keys(subcharts)) {\n\t\tfiles := subcharts[n]\n',
      ],
    ],
  },
  {
    // The order of toYaml has circles, such as 1a < 2 < 12 < 1a: the result then depends on where
    // sorting begins.
    module: 'go.yaml.in/yaml/v2',
    file: 'encode.go',
    replacements: [
      [
        '\t\tkeys := keyList(in.MapKeys())\n',
        '\t\tkeys := keyList(in.MapKeys())\n' +
          '\t\tsort.Slice(keys, func(i, j int) bool { return fmt.Sprint(keys[i]) < fmt.Sprint(keys[j]) })\n',
      ],
    ],
  },
  {
    // Of keys that are one in JSON, such as 1 and "1", the text counts.
    module: 'sigs.k8s.io/yaml',
    file: 'yaml.go',
    replacements: [
      [
        '\t\t\t// jsonTarget should be a struct or a map.',
        '\t\t\tif _, clash := typedYAMLObj[keyString]; clash && k != keyString {\n' +
          '\t\t\t\tcontinue\n' +
          '\t\t\t}\n' +
          '\t\t\t// jsonTarget should be a struct or a map.',
      ],
    ],
  },
];
