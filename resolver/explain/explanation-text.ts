import type { ConsideredBundle, ConsideredGroup, Explanation } from './explanation.ts';

/** The explanation as lines of text, ended by a newline. */
export function explanationText(explanation: Explanation): string {
  const { asked, message, chain, considered, suggestions } = explanation;
  const sections = [
    [`Asked: ${asked}`, ...indented('Answer: ', message)],
    listed('Because:', chain),
    listed('Considered:', considered.map(groupText)),
    listed('What would help:', suggestions),
  ];
  const lines = sections.filter((section) => section.length > 0).map((each) => each.join('\n'));
  return `${lines.join('\n\n')}\n`;
}

function indented(head: string, text: string): readonly string[] {
  return text.split('\n').map((line, index) => (index === 0 ? `${head}${line}` : `  ${line}`));
}

function listed(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [title, ...items.map((item) => `  - ${item}`)];
}

function groupText({ reason, bundles, more }: ConsideredGroup): string {
  const names = bundles.map(bundleText).join(', ');
  return `${reason}: ${names}${more > 0 ? ` and ${more} more` : ''}`;
}

function bundleText({ name, version, catalog }: ConsideredBundle): string {
  return `${version === '' ? name : version} (${catalog})`;
}
