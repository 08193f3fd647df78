/** Components that are drawn again only when a property is another object. */
import { Component, type ComponentType } from "preact";

export function memo<Props extends object>(
  View: (props: Props) => preact.JSX.Element | null,
): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const before = this.props as Readonly<Record<string, unknown>>;
      const after = next as Readonly<Record<string, unknown>>;
      return Object.keys({ ...before, ...after }).some((name) => before[name] !== after[name]);
    }

    override render() {
      return <View {...(this.props as Props)} />;
    }
  };
}
